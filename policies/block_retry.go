package policies

// Retry is the block `retry {}`.
type Retry struct {
	Attempts      Value[int]
	Backoff       Value[string] // fixed, linear, exponential
	InitialMS     Value[int64]
	MaxMS         Value[int64]
	JitterPercent Value[int]
	RunnerRetries Value[int]
}

// Overlay returns a with everything that b sets put over it.
func (a Retry) Overlay(b Retry) Retry {
	return Retry{
		Attempts:      b.Attempts.Or(a.Attempts),
		Backoff:       b.Backoff.Or(a.Backoff),
		InitialMS:     b.InitialMS.Or(a.InitialMS),
		MaxMS:         b.MaxMS.Or(a.MaxMS),
		JitterPercent: b.JitterPercent.Or(a.JitterPercent),
		RunnerRetries: b.RunnerRetries.Or(a.RunnerRetries),
	}
}
