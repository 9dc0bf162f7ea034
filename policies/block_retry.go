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

var retryBlock = &block{
	name: "retry",
	doc:  "how an attempt is tried again",
	attrs: []attr{
		{name: "attempts", kind: kInt, min: 1, max: 1000, doc: "attempts of a step, from 1"},
		{name: "backoff", kind: kEnum, enum: []string{"exponential", "fixed", "linear"}, doc: "fixed, linear or exponential"},
		{name: "initial", kind: kDuration, doc: `the first wait, such as "5s"`},
		{name: "max", kind: kDuration, doc: `the longest wait, such as "5m"`},
		{name: "jitter", kind: kPercent, doc: `the share of a wait that is random, such as 0.2 or "20%"`},
		{name: "runner_retries", kind: kInt, min: 0, max: 1000, doc: "retries after a crash or a lost connection, never counted as attempts"},
	},
}

func (r *reader) retry() Retry {
	return Retry{
		Attempts:      r.integer("attempts"),
		Backoff:       r.enum("backoff"),
		InitialMS:     r.duration("initial"),
		MaxMS:         r.duration("max"),
		JitterPercent: r.percent("jitter"),
		RunnerRetries: r.integer("runner_retries"),
	}
}
