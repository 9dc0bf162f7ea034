package record

// The form of `ralph monitor --json`: for each epic that of `ralph status --json`,
// and what can only be seen from outside.
type (
	MonitorJSON struct {
		Version      int              `json:"version"`
		Repositories []RepositoryJSON `json:"repositories"`
	}
	RepositoryJSON struct {
		Dir     string          `json:"dir"`
		Epics   []MonitoredJSON `json:"epics"`
		Trouble []string        `json:"trouble,omitempty"` // runs that cannot be read
	}
	MonitoredJSON struct {
		File string `json:"file"` // of the epic, for --epic
		StatusJSON
		Stalled []string `json:"stalled,omitempty"` // keys of sprints whose agent is silent for too long
		Rank    int      `json:"-"`                 // 0: at work, 1: interrupted, 2: not all is done
		rec     *Record
	}
)
