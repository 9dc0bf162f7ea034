package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-compiler/ralph/ir"
)

// RunRecord is one line of runs.jsonl: a finished run.
type RunRecord struct {
	Epic     ir.NodeID      `json:"epic"`
	Digest   string         `json:"digest"` // of epic.json
	Plan     string         `json:"plan"`
	Started  time.Time      `json:"started"`
	Ended    time.Time      `json:"ended"`
	Events   int64          `json:"events"` // sequence number of its last event
	Exit     int            `json:"exit"`
	Counts   map[string]int `json:"counts"` // nodes by status
	Result   string         `json:"result,omitempty"`
	Attempts int            `json:"attempts"` // in this run
}

// AppendRun adds a line to runs.jsonl in dir and makes it durable.
func AppendRun(dir string, r RunRecord) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("record run: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "runs.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("record run: %w", err)
	}
	_, err = f.Write(append(b, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("record run: %w", err)
	}
	return nil
}
