// Package shepherd turns Agent Shepherd's YAML (config.yaml, policies.yaml,
// agents.yaml) into policy text that a person would have written.
//
// In: the files' bytes, in both layouts (.agent-shepherd/*.yaml and
// .agent-shepherd/config/*.yaml; Find knows them), any number of them, told apart by
// what they hold. Out: HCL in ralph's layout, blocks in the order of the source, with
// a comment wherever something has no place in ralph or means something else there,
// each with its key and the reason; and everything that is wrong with the files, found
// in one pass. docs/formats/shepherd.md says what each key becomes.
//
// It reads no files. It imports policies (which alone knows HCL), internal/yaml,
// internal/spell and diag; app calls it.
package shepherd
