package ir

// SecretVars names the variables that hold secrets, by the name of the secret. One
// that the epic does not have is left out: Verify reports it.
func (e *Epic) SecretVars(names []string) map[string]string {
	out := make(map[string]string, len(names))
	for _, name := range names {
		if s, known := e.Secrets[name]; known {
			out[name] = s.Env
		}
	}
	return out
}

// secretsOf names the variables of secrets for a digest: never their values, and one
// that the epic does not have counts as well.
func secretsOf(e *Epic, names []string) map[string]string {
	out := make(map[string]string, len(names))
	for _, name := range names {
		out[name] = e.Secrets[name].Env
	}
	return out
}
