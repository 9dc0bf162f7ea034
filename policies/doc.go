// Package policies turns HCL into a typed policy: how work is done, whereas a
// plan says what is to be done. See docs/policy-language.md.
//
// In: the policy files read by app (*.hcl, and *.hcl.json), the project as a
// confined file system, the values of --var. Out: a Set, which is the built-in
// policy (policies/builtin, embedded) overlaid with the user's blocks, and every
// diagnostic that needs only the policy. Everything that takes part in precedence
// is a Value, which knows where it was written.
//
// How the compiler uses it:
//
//   - Decode once, and Set.Fragment for each hcl fence of the plan;
//   - per node: Set.MatchComplexity, Set.Matching (which policy blocks fit),
//     Policy.For and Gate.For (expressions that mention node.*; blocks without
//     any are returned unchanged and cost nothing), Overlay for precedence,
//     Rule.Node, Rule.Edge and Rule.Plan for policy as code;
//   - CheckOutput and ReadAgentFile for the content of plans and agent files.
//
// Expressions are pure: HCL's operators, for, templates, the cty standard
// functions, and file, jsonfile, glob on the confined project. Evaluation is
// bounded (limits in bounds.go); hostile policy text gives a diagnostic.
//
// The package imports diag and internal/…, and alone in the module
// hashicorp/hcl, go-cty and hashicorp/go-version. It does not import ir nor
// compiler/syntax. compiler and app import it.
package policies
