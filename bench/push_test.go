package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkPush: the push of an epic into an empty beads database takes at most 1.2
// times the CPU of the fastest sequence that is known: the nodes by one bd import, the
// edges that no others imply by one bd batch in reverse topological order. A push that
// changes nothing is one read of the database. It runs where RALPH_BD names a bd, with
// 160 sprints, or as many as RALPH_BENCH_PUSH says (1000 take some four minutes), and
// measures once, whatever -benchtime says.
func BenchmarkPush(b *testing.B) {
	bd := os.Getenv("RALPH_BD")
	if bd == "" {
		b.Skip("RALPH_BD is not set: make bd builds the real bd")
	}
	n := 160
	if v, err := strconv.Atoi(os.Getenv("RALPH_BENCH_PUSH")); err == nil {
		n = v
	}
	ralph, _, _, _ := programs(b)
	path := b.TempDir()
	if err := os.Symlink(bd, filepath.Join(path, "bd")); err != nil {
		b.Fatal(err)
	}
	b.Setenv("PATH", path+string(filepath.ListSeparator)+os.Getenv("PATH"))
	b.Setenv("HOME", b.TempDir())
	for k, v := range map[string]string{"BD_NON_INTERACTIVE": "1", "BD_DISABLE_METRICS": "1", "BD_BACKUP_ENABLED": "false", "BEADS_ACTOR": "ralph"} {
		b.Setenv(k, v)
	}
	dir, by := database(b, n), database(b, n)
	run(b, dir, ralph, "compile", "plan.md")
	run(b, by, ralph, "compile", "plan.md")
	nodes, edges := byHand(b, ralph, by)

	pushed := run(b, dir, ralph, "compile", "plan.md", "--push")
	again := run(b, dir, ralph, "compile", "plan.md", "--push")
	floor := run(b, by, "bd", "config", "set-many", "types.custom=beads-ralph-work,beads-ralph-merge")
	floor.add(run(b, by, "bd", "import", nodes))
	floor.add(run(b, by, "bd", "batch", "-f", edges))
	list := run(b, by, "bd", "list", "--json", "--all", "--limit", "0")
	for b.Loop() { // measured once, above
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(pushed.cpu.Seconds(), "push-cpu-s")
	b.ReportMetric(floor.cpu.Seconds(), "floor-cpu-s")
	b.ReportMetric(pushed.cpu.Seconds()/floor.cpu.Seconds(), "ratio")
	b.ReportMetric(again.cpu.Seconds(), "again-cpu-s")
	b.ReportMetric(list.cpu.Seconds(), "list-cpu-s")
	if r := pushed.cpu.Seconds() / floor.cpu.Seconds(); r > 1.2 {
		b.Errorf("the push took %.2f times the CPU of the fastest known sequence", r)
	}
}

// database is a repository with a plan, a policy with a tracker, and empty beads.
func database(b *testing.B, sprints int) string {
	b.Helper()
	dir := setup(b, sprints)
	if err := os.WriteFile(filepath.Join(dir, "ralph.hcl"), []byte("tracker \"bd\" {\n}\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	for _, line := range []string{"git init -q -b main", "bd init --prefix bd --stealth --skip-hooks --skip-agents --non-interactive --quiet"} {
		args := strings.Fields(line)
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	return dir
}

// byHand writes the files that somebody would write who knows bd: the nodes as they
// are exported, deferred, with their parents only, and a batch that adds the other
// edges, those of the last nodes first, and opens the nodes.
func byHand(b *testing.B, ralph, dir string) (nodes, edges string) {
	b.Helper()
	cmd := exec.Command(ralph, "export", "--as", "bd", "epic.json")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	var rows bytes.Buffer
	var deps, opens []string
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var row map[string]any
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			b.Fatal(err)
		}
		list, _ := row["dependencies"].([]any)
		var parents []any
		var own []string
		for _, d := range list {
			d := d.(map[string]any)
			if d["type"] == "parent-child" {
				parents = append(parents, d)
				continue
			}
			own = append(own, fmt.Sprintf("dep add %s %s %s", d["issue_id"], d["depends_on_id"], d["type"]))
		}
		deps = append(own, deps...)
		row["dependencies"] = parents
		if row["issue_type"] != "epic" {
			row["status"] = "deferred"
			opens = append(opens, fmt.Sprintf("update %s status=open", row["id"]))
		}
		line, err := json.Marshal(row)
		if err != nil {
			b.Fatal(err)
		}
		rows.Write(append(line, '\n'))
	}
	nodes, edges = filepath.Join(b.TempDir(), "nodes.jsonl"), filepath.Join(b.TempDir(), "ops")
	for file, text := range map[string]string{nodes: rows.String(), edges: strings.Join(slices.Concat(deps, opens), "\n") + "\n"} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return nodes, edges
}
