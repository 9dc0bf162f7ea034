package syntax

// The built-in dialects as data; package policies writes them in HCL.
func builtinDialects() map[string]Dialect {
	groups := Pattern{Keywords: []string{"Phase", "Sprint", "Epic", "Milestone", "Wave"}, ID: `[0-9]+[a-z]*`}
	sprint := Sprint()
	with := func(d Dialect, name string, change func(*Dialect)) Dialect {
		d.Name = name
		change(&d)
		return d
	}
	explicit := with(sprint, "", func(d *Dialect) { d.Numbers = "unless_explicit" })
	task := with(explicit, "task", func(d *Dialect) {
		d.Phase = groups
		d.Item = Pattern{Keywords: []string{"Task", "Story", "Step"}, ID: `[0-9]+[a-z]*([.-][0-9]+[a-z]*)*`}
	})
	all := []Dialect{
		sprint, task,
		with(task, "code", func(d *Dialect) {
			d.Item = Pattern{ID: `[A-Z][A-Z0-9]*([-.][A-Z0-9]+)*[-.][A-Z]*[0-9]+[a-z]*`}
		}),
		with(explicit, "integer", func(d *Dialect) {
			d.Phase, d.Groups = Pattern{}, "chain"
			d.Item = Pattern{Keywords: []string{"Sprint"}, ID: `[0-9]+[a-z]*`}
		}),
		with(explicit, "phase", func(d *Dialect) {
			d.Phase, d.Groups = Pattern{}, "chain"
			d.Item = Pattern{Keywords: []string{"Phase"}, ID: `[0-9]+[a-z]*`}
		}),
		with(explicit, "section", func(d *Dialect) {
			d.Phase = Pattern{ID: `[0-9]+[a-z]*`}
			d.Item = Pattern{ID: `[0-9]+[a-z]*\.[0-9]+[a-z]*`}
		}),
		with(task, "bold-task", func(d *Dialect) {
			d.In = InBold
			d.Item = Pattern{Keywords: []string{"Task", "Story", "Step"}, ID: `[A-Z]*-?[0-9]+[a-z]*(\.[0-9]+[a-z]*)*`}
		}),
		with(explicit, "checklist", func(d *Dialect) {
			d.Phase, d.Groups, d.In, d.ParallelMark = Pattern{}, "chain", InCheckbox, "(P)"
			d.Item = Pattern{ID: `[0-9]+[a-z]*(\.[0-9]+[a-z]*)*`}
		}),
		with(sprint, "spec-kit", func(d *Dialect) {
			d.Phase = Pattern{Keywords: []string{"Phase", "Final Phase"}}
			d.In, d.Letters, d.ParallelMark, d.Explicit = InCheckbox, "sequence", "[P]", "add"
			d.Item = Pattern{ID: `T[0-9]+[A-Za-z]*`}
		}),
		with(explicit, "table", func(d *Dialect) {
			d.Phase, d.Groups, d.In = Pattern{}, "chain", InTable
			d.Item = Pattern{ID: `[A-Za-z]*[-.]?[0-9]+[a-z]*([-.][0-9]+[a-z]*)*`}
			d.Columns = Columns{ID: []string{"ID", "#", "Task ID"}, Title: []string{"Title", "Task"}, Depends: []string{"Depends on", "Dependencies"}}
		}),
		with(sprint, "todo", func(d *Dialect) {
			d.Phase, d.Groups, d.In = Pattern{}, "chain", InTodo
			d.Item = Pattern{ID: `#[0-9]+`}
		}),
		with(explicit, "cursor", func(d *Dialect) {
			d.Phase, d.Groups, d.In = Pattern{}, "chain", InFrontMatter
			d.Item = Pattern{Keywords: []string{"todos"}, ID: `[A-Za-z0-9][A-Za-z0-9_.-]*`}
			d.Columns = Columns{ID: []string{"id"}, Title: []string{"content"}, Depends: []string{"dependencies", "depends_on"}}
		}),
	}
	out := map[string]Dialect{}
	for _, d := range all {
		out[d.Name] = d
	}
	return out
}
