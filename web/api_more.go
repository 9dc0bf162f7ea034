package web

type (
	// TailLine is the data of an event "line" of GET …/tail: whole lines of the file, or a
	// part of one that is very long. The id of the event is the offset behind them, in bytes.
	TailLine struct {
		Text string `json:"text"`
	}

	// TailEnd is the data of its event "end": nothing more comes. Next is what can be
	// followed now, null if there is nothing.
	TailEnd struct {
		Next *TailOf `json:"next"`
	}
)
