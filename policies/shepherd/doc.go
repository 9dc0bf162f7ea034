// Package shepherd turns Agent Shepherd's YAML (config.yaml, policies.yaml,
// agents.yaml) into policy text as a person would write it.
//
// In: the files' bytes, in both layouts (.agent-shepherd/*.yaml and
// .agent-shepherd/config/*.yaml; Find knows them), any number of them, distinguished by
// content. Out: HCL in ralph's layout, blocks in the order of the source, with a
// comment wherever a key has no equivalent in ralph or another meaning there, each
// with its key and the reason; and all mistakes in the files, found in one pass.
// docs/formats/shepherd.md says what each key becomes.
//
// It reads no files. It imports policies (which alone knows HCL), internal/yaml,
// internal/spell and diag; app calls it.
package shepherd
