package compiler_test

import (
	"fmt"
	"strings"
)

// hostilePlans are plans that ask for much.
var hostilePlans = map[string]hostile{
	"labels of one sprint":           {plan: inSprint(numbered("**Label%d**: x\n"))},
	"one label many times":           {plan: inSprint(verbatim("**Owns**: a/**\n"))},
	"one scalar label many times":    {plan: inSprint(numbered("**Timeout**: %dm\n"))},
	"wrong scalar labels":            {plan: inSprint(numbered("**Timeout**: x%d\n"))},
	"labels nearly known":            {plan: inSprint(numbered("**Dependz on%d**: 1.1\n"))},
	"dependencies without a colon":   {plan: inSprint(verbatim("Depends on 1.1\n\n"))},
	"a label with a huge list":       {plan: inSprint(func(i int) string { return []string{"**Owns**:\n", fmt.Sprintf("- a%d\n", i)}[min(i, 1)] })},
	"owned files":                    {plan: inSprint(func(i int) string { return []string{"**Owns**: ", fmt.Sprintf("f%d, ", i)}[min(i, 1)] })},
	"owned globs of many sprints":    {plan: sprints(numbered("**Owns**: a%d/**/*.go\n"))},
	"owned globs that are alike":     {plan: sprints(numbered("**Owns**: **/a*b*c*%d\n"))},
	"one owned glob":                 {plan: sprints(verbatim("**Owns**: a/**\n"))},
	"agents of one sprint":           {plan: inSprint(func(i int) string { return []string{"**Dev Agents**:\n", fmt.Sprintf("- `a%d`\n", i)}[min(i, 1)] })},
	"judges of one sprint":           {plan: inSprint(func(i int) string { return []string{"**QA Agents**:\n", fmt.Sprintf("- `a%d`\n", i)}[min(i, 1)] })},
	"judges of many sprints":         {plan: sprints(numbered("**QA Agents**: `a%d` `b` `c`\n"))},
	"agents of many sprints":         {plan: sprints(numbered("**Dev Agents**: `a%d`\n"))},
	"agents that are one letter off": {plan: sprints(func(i int) string { return fmt.Sprintf("**Dev Agent**: `agent%06x`\n", i) })},
	"verify fences":                  {plan: func() string { return sprint("**Verify**:\n\n" + fill(hostileRoom, verbatim("```sh\nx\n```\n"))) }},
	"verify spans":                   {plan: sprints(verbatim("**Verify**: `x`\n"))},
	"tasks":                          {plan: inSprint(verbatim("- [ ] x\n"))},
	"bullets":                        {plan: inSprint(verbatim("- x\n"))},
	"empty bullets":                  {plan: inSprint(verbatim("-\n"))},
	"nested lists": {plan: func() string {
		return sprint(fill(hostileRoom, func(i int) string { return strings.Repeat("  ", i%90) + "- x\n" }))
	}},
	"lists nested deeply": {plan: func() string {
		return sprint(fill(hostileRoom, func(i int) string { return strings.Repeat("  ", i) + "- x\n" }))
	}},
	"bullets on one line":   {plan: long(sprint("x")+"\n", "- ", "x\n")},
	"quotes":                {plan: long(sprint("x")+"\n", ">", "x\n")},
	"quotes apart":          {plan: inSprint(verbatim(strings.Repeat(">", 99) + "x\n\n"))},
	"bullets in a line":     {plan: inSprint(verbatim(strings.Repeat("- ", 8) + "x\n"))},
	"quoted lines":          {plan: inSprint(verbatim(strings.Repeat(">", 99) + "x\n"))},
	"tables":                {plan: inSprint(verbatim("|a|b|\n|-|-|\n|1|2|\n\n"))},
	"a table of many rows":  {plan: func() string { return sprint("|a|b|\n|-|-|\n" + fill(hostileRoom, verbatim("|1|2|\n"))) }},
	"a table of empty rows": {plan: func() string { return sprint("|a|b|\n|-|-|\n" + fill(hostileRoom, verbatim("|\n"))) }},
	"a table of one row":    {plan: func() string { return sprint("|a|b|\n|-|-|\n" + fill(hostileRoom, verbatim("|"))) }},
	"a table of many columns": {plan: func() string {
		n := hostileRoom / 4
		return sprint(strings.Repeat("|a", n) + "|\n" + strings.Repeat("|-", n) + "|\n|1|\n")
	}},
	"a square table": {plan: func() string {
		n := hostileRoom / 8
		return sprint(strings.Repeat("|a", n) + "|\n" + strings.Repeat("|-", n) + "|\n" + strings.Repeat("|\n", n))
	}},
	"a table of dependencies": {plan: func() string {
		return sprint("|Sprint|Depends on|\n|-|-|\n" + fill(hostileRoom, numbered("|1.1|1.%d|\n")))
	}},
	"headings":                       {plan: filled(verbatim("# x\n"))},
	"empty headings":                 {plan: filled(verbatim("#\n"))},
	"setext headings":                {plan: filled(verbatim("x\n=\n"))},
	"headings below a sprint":        {plan: inSprint(verbatim("#### x\n"))},
	"headings that are nearly items": {plan: inSprint(numbered("### Sprnt 1.%d: x\n"))},
	"headings of no dialect":         {plan: filled(numbered("### Task 1.%d x\n"))},
	"headings of all dialects":       {plan: filled(numbered("### 1.%d x\n- [ ] %d. x\n**Task %d: x**\n"))},
	"phases without sprints":         {plan: func() string { return sprint("x") + fill(hostileRoom, numbered("## Phase %d: x\n")) }},
	"phases with sprints":            {plan: filled(numbered("## Phase %d: x\n### Sprint %d.1: x\n"))},
	"phases that are tracks": {plan: filled(func(i int) string {
		return fmt.Sprintf("## Phase 1%s: x\n### Sprint 1%s.1: x\n", letters(i), letters(i))
	})},
	"sprints that are tracks": {plan: func() string {
		return "# P\n## Phase 1: x\n" + fill(hostileRoom, func(i int) string { return fmt.Sprintf("### Sprint 1.1%s: x\n", letters(i)) })
	}},
	"sprints": {plan: sprints(verbatim(""))},
	"sprints in reverse": {plan: func() string {
		return "# P\n## Phase 1: x\n" + fill(hostileRoom, func(i int) string { return fmt.Sprintf("### Sprint 1.%d: S\n", 99999-i) })
	}},
	"sprints of the same id":         {plan: filled(verbatim("### Sprint 1.1: S\n"))},
	"sprints with gaps":              {plan: filled(func(i int) string { return fmt.Sprintf("### Sprint 1.%d: S\n", 2*i+1) })},
	"sprints that differ by case":    {plan: filled(func(i int) string { return fmt.Sprintf("### Sprint 1.%d%s: S\n", i/2+1, []string{"a", "A"}[i%2]) })},
	"sprints that differ by padding": {plan: filled(func(i int) string { return fmt.Sprintf("### Sprint 1.%0*d: S\n", i%40+1, i/40+1) })},
	"sprints of phases":              {plan: filled(func(i int) string { return fmt.Sprintf("### Sprint %d.1: S\n", i+1) })},
	"sprints in wrong phases": {plan: func() string {
		return "# P\n## Phase 1: x\n" + fill(hostileRoom, func(i int) string { return fmt.Sprintf("### Sprint %d.1: S\n", i+2) })
	}},
	"merges": {plan: sprints(verbatim("**Depends on**: all previous\n"))},
	"wide phases": {plan: filled(func(i int) string {
		return fmt.Sprintf("### Sprint %d.1%s: S\n", i/1000+1, letters(i%1000))
	})},
	"unknown dependencies":               {plan: sprints(func(i int) string { return fmt.Sprintf("**Depends on**: 7.%d\n", 900000+i) })},
	"unknown dependencies of one sprint": {plan: inSprint(func(i int) string { return []string{"**Depends on**: 9.1", fmt.Sprintf(", 7.%d", i)}[min(i, 1)] })},
	"unknown dependencies, all the same": {plan: inSprint(func(i int) string { return []string{"**Depends on**: 9.1", ", 7.1"}[min(i, 1)] })},
	"known and unknown dependencies": {plan: func() string {
		return "# P\n## Phase 1: x\n" + fill(hostileRoom/2, numbered("### Sprint 1.%d: S\n")) + "\n**Depends on**: 9.1" + fill(hostileRoom/2, numbered(", 1.%d77777"))
	}},
	"one dependency many times": {plan: func() string {
		return sprint("### Sprint 1.2: x\n**Depends on**: 1.1" + strings.Repeat(", 1.1", hostileRoom/5))
	}},
	"dependencies as bullets": {plan: func() string {
		return sprint("### Sprint 1.2: x\n**Depends on**:\n" + strings.Repeat("- 1.1\n", hostileRoom/6))
	}},
	"dependencies on itself": {plan: inSprint(func(i int) string { return []string{"**Depends on**: 1.1", ", 1.1"}[min(i, 1)] })},
	"a huge range":           {plan: sprints(verbatim("**Depends on**: 1.1-1.99999\n"))},
	"ranges of one sprint":   {plan: inSprint(func(i int) string { return []string{"**Depends on**: 1.1-1.99999", ", 1.1-1.99999"}[min(i, 1)] })},
	"ranges over many sprints": {plan: func() string {
		return "# P\n## Phase 1: x\n" + fill(hostileRoom/2, numbered("### Sprint 1.%d: S\n")) + "\n### Sprint 2.1: x\n**Depends on**: 1.1-1.99999" + strings.Repeat(", 1.1-1.99999", hostileRoom/2/14)
	}},
	"words of prose as dependencies": {plan: inSprint(func(i int) string { return []string{"**Depends on**: x", ", word and words"}[min(i, 1)] })},
	"a dependency of one word":       {plan: long(sprint("**Depends on**: "), "a", "\n")},
	"a dependency of and":            {plan: long(sprint("**Depends on**: "), "and ", "\n")},
	"a dependency of brackets":       {plan: long(sprint("**Depends on**: "), "(", "\n")},
	"prose clauses":                  {plan: inSprint(numbered("(after 1.%d merged) "))},
	"prose clauses of many sprints":  {plan: sprints(numbered("**Source Branch**: main (after 1.%d merged)\n"))},
	"prose clauses backwards":        {plan: sprints(numbered("x (after 1.9%d merged)\n"))},
	"circles":                        {plan: sprints(func(i int) string { return fmt.Sprintf("**Depends on**: 1.%d\n", (i^1)+1) })},
	"one huge circle":                {plan: sprints(func(i int) string { return fmt.Sprintf("**Depends on**: 1.%d, 1.%d\n", i+2, max(i, 1)) })},
	"all wait for a few":             {plan: sprints(verbatim("**Depends on**: 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8\n"))},
	"reverse labels":                 {plan: sprints(verbatim("**Blocks**: all\n"))},
	"related":                        {plan: sprints(verbatim("**Related**: 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8\n"))},
	"directives":                     {plan: inSprint(verbatim("<!-- ralph: timeout=1m -->\n"))},
	"a directive with unknown keys":  {plan: func() string { return sprint("<!-- ralph:" + fill(hostileRoom, numbered(" k%d=1")) + " -->") }},
	"a directive with near keys":     {plan: func() string { return sprint("<!-- ralph:" + fill(hostileRoom, numbered(" timeout%d=1")) + " -->") }},
	"a directive with one key":       {plan: func() string { return sprint("<!-- ralph:" + fill(hostileRoom, verbatim(" owns=a")) + " -->") }},
	"a directive with one scalar":    {plan: func() string { return sprint("<!-- ralph:" + fill(hostileRoom, numbered(" timeout=%dm")) + " -->") }},
	"a directive with bad words":     {plan: func() string { return sprint("<!-- ralph:" + fill(hostileRoom, numbered(" w%d")) + " -->") }},
	"a directive with quotes":        {plan: func() string { return sprint("<!-- ralph: a=" + fill(hostileRoom, verbatim("\"")) + " -->") }},
	"directives with unknown keys":   {plan: inSprint(numbered("<!-- ralph: k%d=1 -->\n"))},
	"annotations":                    {plan: inSprint(numbered("<!-- beads-ralph: bd-a%d -->\n"))},
	"one annotation in many sprints": {plan: sprints(verbatim("<!-- beads-ralph: bd-a1b2c3 -->\n"))},
	"annotations of many sprints":    {plan: sprints(func(i int) string { return fmt.Sprintf("<!-- beads-ralph: bd-%06x -->\n", i) })},
	"wrong annotations":              {plan: sprints(numbered("<!-- beads-ralph: %d! -->\n"))},
	"comments":                       {plan: inSprint(verbatim("<!-- -->\n"))},
	"open comments":                  {plan: inSprint(verbatim("<!--\n"))},
	"open comments on a line":        {plan: inSprint(verbatim("x <!-- "))},
	"html":                           {plan: inSprint(verbatim("<div>\n\n"))},
	"html on a line":                 {plan: inSprint(verbatim("<a>"))},
	"open tags":                      {plan: inSprint(verbatim("<a "))},
	"open declarations":              {plan: inSprint(verbatim("a<!A"))},
	"open instructions":              {plan: inSprint(verbatim("a<?"))},
	"fences":                         {plan: inSprint(verbatim("```\n```\n"))},
	"open fences":                    {plan: inSprint(verbatim("- ```\n"))},
	"hcl fences":                     {plan: inSprint(verbatim("```hcl ralph\n```\n"))},
	"hcl fences with locals":         {plan: inSprint(verbatim("```hcl ralph\ntimeout = \"${1+1}m\"\n```\n"))},
	"hcl fences of many sprints":     {plan: sprints(verbatim("```hcl ralph\ntimeout = \"2m\"\n```\n"))},
	"hcl fences with gates":          {plan: sprints(verbatim("```hcl ralph\ngate \"a\" {\nkind = \"command\"\nrun = \"x\"\n}\n```\n"))},
	"hcl fences with errors":         {plan: inSprint(verbatim("```hcl ralph\ntimeoud = 1\n```\n"))},
	"an hcl fence with errors":       {plan: func() string { return sprint("```hcl ralph\n" + fill(hostileRoom, numbered("k%d = 1\n")) + "```\n") }},
	"output fences":                  {plan: sprints(verbatim("**QA Agents**: `q`\n```json output=q\n{}\n```\n"))},
	"links":                          {plan: inSprint(verbatim("[a](b)"))},
	"open links":                     {plan: inSprint(verbatim("[a]("))},
	"open brackets":                  {plan: inSprint(verbatim("["))},
	"closing brackets":               {plan: inSprint(verbatim("]"))},
	"brackets in brackets":           {plan: func() string { return sprint(strings.Repeat("[", hostileRoom/2) + strings.Repeat("]", hostileRoom/2)) }},
	"links in links": {plan: func() string {
		return sprint(strings.Repeat("[", hostileRoom/6) + strings.Repeat("](b)", hostileRoom/6))
	}},
	"images":     {plan: inSprint(verbatim("![a]("))},
	"references": {plan: inSprint(numbered("[a%d]: b\n"))},
	"a reference used often": {plan: func() string {
		return sprint("[a]: " + strings.Repeat("b", hostileRoom/2) + "\n\n" + strings.Repeat("[a]", hostileRoom/6))
	}},
	"references without a target":      {plan: inSprint(verbatim("[a][b]"))},
	"stars":                            {plan: inSprint(verbatim("*"))},
	"stars and letters":                {plan: inSprint(verbatim("*a "))},
	"stars and letters and underlines": {plan: inSprint(verbatim("*a_b "))},
	"stars before letters":             {plan: inSprint(verbatim("**a*"))},
	"strikes":                          {plan: inSprint(verbatim("~~a"))},
	"backticks":                        {plan: inSprint(func(i int) string { return strings.Repeat("`", i+1) + "a" })},
	"backticks and letters":            {plan: inSprint(verbatim("`a``b"))},
	"entities":                         {plan: inSprint(verbatim("&#1;&amp;"))},
	"backslashes":                      {plan: inSprint(verbatim("\\"))},
	"autolinks":                        {plan: inSprint(verbatim("<http://a>"))},
	"bare links":                       {plan: inSprint(verbatim("http://a.b "))},
	"mail addresses":                   {plan: inSprint(verbatim("a@b."))},
	"one giant line":                   {plan: long(sprint("x"), "x", "\n")},
	"one giant line of blanks":         {plan: long(sprint("x"), " ", "x\n")},
	"one giant line of tabs":           {plan: long(sprint("x"), "\t", "x\n")},
	"a giant title":                    {plan: long("# P\n## Phase 1: x\n### Sprint 1.1: ", "x", "\n")},
	"a giant title of closing hashes":  {plan: long("# P\n## Phase 1: x\n### Sprint 1.1: x", " #", "\n")},
	"a giant title of parentheses":     {plan: long("# P\n## Phase 1: x\n### Sprint 1.1: x", " (merge)", "\n")},
	"a giant title of check marks":     {plan: long("# P\n## Phase 1: x\n### Sprint 1.1: x", " ✅", "\n")},
	"a giant title of open marks":      {plan: long("# P\n## Phase 1: x\n### Sprint 1.1: x", " {#a", "\n")},
	"a giant id":                       {plan: long("# P\n## Phase 1: x\n### Sprint 1.", "1", ": x\n")},
	"a giant id of letters":            {plan: long("# P\n## Phase 1: x\n### Sprint 1.1", "a", ": x\n")},
	"a giant id of dots":               {plan: long("# P\n## Phase 1: x\n### Sprint 1", ".1", ": x\n")},
	"blank lines":                      {plan: inSprint(verbatim("\n"))},
	"short lines":                      {plan: inSprint(verbatim("x\n"))},
	"short paragraphs":                 {plan: inSprint(verbatim("x\n\n"))},
	"carriage returns":                 {plan: inSprint(verbatim("x\r"))},
	"indented code":                    {plan: inSprint(verbatim("\n    x\n"))},
	"rules":                            {plan: inSprint(verbatim("---\n\n"))},
	"NUL":                              {plan: inSprint(verbatim("\x00"))},
	"invalid UTF-8":                    {plan: inSprint(verbatim("\xff"))},
	"combining marks":                  {plan: inSprint(verbatim("\u0301"))},
	"front matter keys":                {plan: func() string { return "---\nralph: 1\n" + fill(60<<10, numbered("k%d: 1\n")) + "---\n" + sprint("x") }},
	"front matter of near keys": {plan: func() string {
		return "---\nralph: 1\n" + fill(60<<10, numbered("polici%d: 1\n")) + "---\n" + sprint("x")
	}},
	"front matter labels": {plan: func() string {
		return "---\nralph: 1\nlabels:\n" + fill(60<<10, numbered("- k%d\n")) + "---\n" + sprint("x")
	}},
	"front matter policies": {plan: func() string {
		return "---\nralph: 1\npolicies:\n" + fill(60<<10, numbered("- k%d\n")) + "---\n" + sprint("x")
	}},
	"front matter too long": {plan: func() string {
		return "---\nralph: 1\n" + fill(hostileRoom, numbered("k%d: 1\n")) + "---\n" + sprint("x")
	}},
	"front matter flow": {plan: func() string { return "---\nralph: " + strings.Repeat("[", 60<<10) + "\n---\n" + sprint("x") }},
	"a dialect of many words": {plan: func() string {
		return "---\nralph: 1\ndialect: task:" + fill(60<<10, numbered("W%d,")) + "\n---\n" + fill(hostileRoom-(60<<10), numbered("### W%d 1.1: x\n"))
	}},
	"spec-kit": {plan: func() string {
		return "---\nralph: 1\ndialect: spec-kit\n---\n# P\n" + fill(hostileRoom, numbered("- [ ] T%d [P] x\n"))
	}},
	"spec-kit that depends": {plan: func() string {
		return "---\nralph: 1\ndialect: spec-kit\n---\n# P\n" + fill(hostileRoom, numbered("- [ ] T%d [P] x (depends on T1, T2, T3)\n"))
	}},
	"spec-kit stories": {plan: func() string {
		return "---\nralph: 1\ndialect: spec-kit\n---\n# P\n" + fill(hostileRoom, numbered("- [ ] T%d [US%d] [P] x\n"))
	}},
	"spec-kit marks": {plan: long("---\nralph: 1\ndialect: spec-kit\n---\n# P\n- [ ] T001 ", "[P] ", "x\n")},
	"checklists": {plan: func() string {
		return "---\nralph: 1\ndialect: checklist\n---\n# P\n" + fill(hostileRoom, numbered("- [ ] %d. x\n"))
	}},
	"checklists nested": {plan: func() string {
		return "---\nralph: 1\ndialect: checklist\n---\n# P\n" + fill(hostileRoom, func(i int) string { return fmt.Sprintf("%s- [ ] %d. x\n", strings.Repeat("  ", i%50), i+1) })
	}},
	"todos": {plan: func() string {
		return "---\nralph: 1\ndialect: todo\n---\n# P\n" + fill(hostileRoom, numbered("- [ ] #%d x\n  - [x] y\n- [ ] z (depends on #1, 2)\n"))
	}},
	"todos below headings": {plan: func() string {
		return "---\nralph: 1\ndialect: todo\n---\n# P\n" + fill(hostileRoom, numbered("## G%d\n- [ ] x\n- y\n  - [ ] z\n"))
	}},
	"items of another dialect": {plan: func() string {
		return "# P\n## Phase 1: A\n### Sprint 1.1: x\n# T\n" + fill(hostileRoom, numbered("### Task %d: x\n"))
	}},
	"words with numbers": {plan: func() string {
		return "# P\n" + fill(hostileRoom, func(i int) string { return fmt.Sprintf("## %s %d: x\n", strings.Repeat("w", 1+i/3%200), i) })
	}},
	"listed items": {plan: func() string {
		return "---\nralph: 1\ndialect: cursor\ntodos:\n" + fill(60<<10, numbered("- {id: a%d, content: x, dependencies: [a1, zz]}\n")) + "---\n# P\n"
	}},
	"bold tasks": {plan: func() string {
		return "---\nralph: 1\ndialect: bold-task\n---\n# P\n" + fill(hostileRoom, numbered("**Task P%d: x**\n\n"))
	}},
	"a table of items": {plan: func() string {
		return "---\nralph: 1\ndialect: table\n---\n# P\n\n|ID|Title|Depends on|\n|-|-|-|\n" + fill(hostileRoom, numbered("|%d|x|1, 2, 3|\n"))
	}},
	"a table of unknown dependencies": {plan: func() string {
		return "---\nralph: 1\ndialect: table\n---\n# P\n\n|ID|Title|Depends on|\n|-|-|-|\n" + fill(hostileRoom, numbered("|%d|x|9%d00000|\n"))
	}},
	"sections": {plan: func() string {
		return "---\nralph: 1\ndialect: section\n---\n# P\n" + fill(hostileRoom, numbered("### 1.%d x\n"))
	}},
	"codes": {plan: func() string {
		return "---\nralph: 1\ndialect: code\n---\n# P\n" + fill(hostileRoom, numbered("### A-%d: x\n"))
	}},
	"codes of many parts": {plan: func() string {
		return "---\nralph: 1\ndialect: code\n---\n# P\n" + fill(hostileRoom, func(i int) string { return "### A" + strings.Repeat("-A1", 200) + fmt.Sprintf("-%d: x\n", i) })
	}},
	"approvals": {plan: sprints(numbered("**Approval**: required from @a%d within 48h\n"))},
	"approvals of one sprint": {plan: inSprint(func(i int) string {
		return []string{"**Approval**: required from @a", fmt.Sprintf(", @a%d", i)}[min(i, 1)]
	})},
	"levels that nobody declares":   {plan: sprints(numbered("**Complexity**: l%d\n"))},
	"policies that nobody declares": {plan: sprints(numbered("**Policy**: l%d\n"))},
	"models that nobody declares":   {plan: sprints(numbered("**Model**: l%d\n"))},
	"branches that clash":           {plan: sprints(verbatim("**Branch**: a\n"))},
	"branches of many sprints":      {plan: sprints(numbered("**Branch**: a/%d\n"))},
	"branches within branches":      {plan: sprints(func(i int) string { return "**Branch**: " + strings.Repeat("a/", i%90+1) + "b\n" })},
	"worktrees that clash":          {plan: sprints(verbatim("**Worktree**: a\n"))},
	"worktrees that leave":          {plan: sprints(verbatim("**Worktree**: ../../a\n"))},
	"budgets too small":             {plan: sprints(verbatim("**Budget**: 1 tokens\n"))},
	"requirements":                  {plan: inSprint(func(i int) string { return []string{"**Implements**: A-1", fmt.Sprintf(", A-%d", i)}[min(i, 1)] })},
	"manual sprints":                {plan: sprints(verbatim("**Manual**: yes\n"))},
	"keywords of complexity":        {plan: inSprint(verbatim("- [ ] auth security payment migration credential\n"))},
	"goals":                         {plan: sprints(verbatim("**Goal**: auth\n"))},
	"prompts":                       {plan: some(900, "**Prompt**:\n\n"+strings.Repeat("x ", 500))},
	"a phase goal in every prompt": {plan: func() string {
		return "# P\n## Phase 1: x\n**Goal**: " + strings.Repeat("g", hostileRoom/2) + "\n" + fill(hostileRoom/2, numbered("### Sprint 1.%d: x\n"))
	}},
	"a phase name in every prompt": {plan: func() string {
		return "# P\n## Phase 1: " + strings.Repeat("g", hostileRoom/2) + "\n" + fill(hostileRoom/2, numbered("### Sprint 1.%d: x\n"))
	}},
	"a plan's labels in every node": {plan: func() string {
		return "---\nralph: 1\nlabels:\n" + fill(60<<10, numbered("- k%d\n")) + "---\n# P\n## Phase 1: x\n" + fill(hostileRoom/2, numbered("### Sprint 1.%d: x\n"))
	}},
	"a plan's agents in every node": {plan: func() string {
		return "# P\n**Dev Agents**: `a`" + fill(hostileRoom/2, numbered(", `a%d`")) + "\n## Phase 1: x\n" + fill(hostileRoom/2, numbered("### Sprint 1.%d: x\n"))
	}},
	"a plan's gate in every node": {plan: func() string {
		return "# P\n```hcl ralph\n" + fill(hostileRoom/2, numbered("gate \"g%d\" {\nkind = \"command\"\nrun = \"x\"\n}\n")) + "```\n## Phase 1: x\n" + fill(hostileRoom/2, numbered("### Sprint 1.%d: x\n"))
	}},
	"a phase's fence over many sprints": {plan: func() string {
		return "# P\n## Phase 1: x\n```hcl ralph\nstep \"implement\" {\ngates = [\"a\"" + fill(hostileRoom/2, numbered(", \"g%d\"")) + "]\n}\n```\n" + fill(hostileRoom/2, numbered("### Sprint 1.%d: x\n"))
	}},
}

// letters numbers tracks: a, b, …, z, aa would be a join, so baa.
func letters(i int) string {
	s := ""
	for ; ; i /= 26 {
		s = string(rune('a'+i%26)) + s
		if i < 26 {
			return s
		}
	}
}
