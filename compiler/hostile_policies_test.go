package compiler_test

import (
	"fmt"
	"strings"
)

// many is a plan of some sprints, each with a goal that an expression can look at.
var many = sprints(verbatim("**Goal**: x"))

func rule(expr string) func() string {
	return is("rule \"r\" {\nassert = " + expr + "\nmessage = \"m\"\n}\n")
}

func locals(lines string) func() string { return is("locals {\n" + lines + "\n}\n") }

// doubling is a chain of n locals, each made of the one before it by a format.
func doubling(n int, first, next string) func() string {
	var b strings.Builder
	b.WriteString("l0 = " + first + "\n")
	for i := 1; i < n; i++ {
		b.WriteString(fmt.Sprintf("l%d = %s\n", i, strings.ReplaceAll(next, "PREV", fmt.Sprintf("local.l%d", i-1))))
	}
	return locals(b.String())
}

func blocks(format string) func() string { return filled(numbered(format)) }

// hostilePolicies are policies that ask for much.
var hostilePolicies = map[string]hostile{
	"a rule that multiplies":             {policy: rule("length([for a in range(400) : [for b in range(400) : a * b]]) > 0")},
	"a rule that multiplies, per node":   {plan: many, policy: rule("length([for a in range(100) : [for b in range(100) : \"${node.key}${a}${b}\"]]) > 0")},
	"a rule over the plan, per node":     {plan: many, policy: rule("length([for n in plan.nodes : n if n.key == node.key]) > 0")},
	"a rule over the plan, twice":        {plan: many, policy: is("rule \"r\" {\nover = \"plan\"\nassert = length([for n in plan.nodes : [for m in plan.nodes : m.key == n.key]]) > 0\nmessage = \"m\"\n}\n")},
	"a rule over edges":                  {plan: many, policy: is("rule \"r\" {\nover = \"edge\"\nassert = length([for n in plan.nodes : n if n.key == edge.from.key]) > 0\nmessage = \"m\"\n}\n")},
	"a rule that is broken everywhere":   {plan: many, policy: rule("node.key == \"x\"")},
	"a rule that breaks with long words": {plan: many, policy: is("rule \"r\" {\nassert = node.key == \"x\"\nmessage = join(\"\", [for i in range(1000) : \"aaaaaaaaaa\"])\n}\n")},
	"a rule of a regular expression":     {plan: many, policy: rule("length(regexall(\"(a|aa|aaa|x{1,1000})*$\", node.goal)) >= 0")},
	"a rule of many expressions": {plan: many, policy: func() string {
		return "rule \"r\" {\nassert = length([" + fill(100<<10, numbered("node.goal != \"g%d\",")) + "]) > 0\nmessage = \"m\"\n}\n"
	}},
	"rules":                            {policy: blocks("rule \"r%d\" {\nassert = node.key != \"x\"\nmessage = \"m\"\n}\n")},
	"rules over many nodes":            {plan: some(5000, ""), policy: blocks("rule \"r%d\" {\nassert = node.key != \"x\"\nmessage = \"m\"\n}\n")},
	"rules that are literal":           {plan: many, policy: blocks("rule \"r%d\" {\nassert = true\nmessage = \"m\"\n}\n")},
	"rules that are broken everywhere": {plan: some(5000, ""), policy: blocks("rule \"r%d\" {\nassert = false\nmessage = \"m\"\n}\n")},
	"rules with mistakes":              {plan: some(5000, ""), policy: blocks("rule \"r%d\" {\nassert = node.nam == 1\nmessage = \"m\"\n}\n")},
	"rules that divide by nothing":     {plan: some(5000, ""), policy: blocks("rule \"r%d\" {\nassert = 1 / node.priority * 0 == log(0, 0)\nmessage = \"m\"\n}\n")},
	"rules waived everywhere": {plan: some(2000, ""), policy: func() string {
		return "rule \"r\" {\nassert = false\nmessage = \"m\"\n}\n" + fill(hostileRoom-100, numbered("waive \"r\" {\nnode = \"1.%d\"\nreason = \"x\"\nowner = \"y\"\nuntil = \"2030-01-01\"\n}\n"))
	}},
	"waivers of nothing": {policy: blocks("waive \"r%d\" {\nnode = \"9.1\"\nreason = \"x\"\nowner = \"y\"\nuntil = \"2030-01-01\"\n}\n")},
	"locals":             {policy: func() string { return locals(fill(hostileRoom, numbered("l%d = 1\n")))() }},
	"locals in a chain": {policy: func() string {
		return locals(fill(hostileRoom, func(i int) string { return fmt.Sprintf("l%d = local.l%d\n", i, i+1) }))()
	}},
	"locals of all locals": {policy: func() string { return locals(fill(hostileRoom, numbered("l%d = length(local)\n")))() }},
	"locals in a cycle": {policy: func() string {
		return locals(fill(hostileRoom, func(i int) string { return fmt.Sprintf("l%d = local.l%d\n", i, i^1) }))()
	}},
	"locals that double text":  {policy: doubling(100, `"aaaaaaaaaaaaaaaa"`, `"${PREV}${PREV}"`)},
	"locals that double lists": {policy: doubling(100, `["a"]`, `concat(PREV, PREV)`)},
	"locals that nest":         {policy: doubling(100, `["a"]`, `[PREV, PREV]`)},
	"locals that nest objects": {policy: doubling(100, `{a = 1}`, `{a = PREV, b = PREV}`)},
	"locals that nest and are written": {policy: func() string {
		return doubling(60, `["a"]`, `[PREV, PREV]`)() + "gate \"g\" {\nkind = \"command\"\nrun = jsonencode(local.l59)\n}\n"
	}},
	"locals that nest and are compared": {policy: func() string {
		return doubling(60, `["a"]`, `[PREV, PREV]`)() + "locals {\nx = local.l59 == [local.l58, local.l58]\n}\n"
	}},
	"locals that nest and are flattened": {policy: func() string {
		return doubling(60, `["a"]`, `[PREV, PREV]`)() + "locals {\nx = flatten(local.l59)\n}\n"
	}},
	"locals that nest and become a set": {policy: func() string {
		return doubling(60, `["a"]`, `[PREV, PREV]`)() + "locals {\nx = toset([local.l59])\n}\n"
	}},
	"locals that nest and are distinct": {policy: func() string {
		return doubling(60, `["a"]`, `[PREV, PREV]`)() + "locals {\nx = distinct([local.l59, local.l59])\n}\n"
	}},
	"locals that nest and are merged": {policy: func() string {
		return doubling(60, `{a = 1}`, `{a = PREV, b = PREV}`)() + "locals {\nx = merge(local.l59, local.l59)\n}\n"
	}},
	"locals that nest and become text": {policy: func() string {
		return doubling(60, `["a"]`, `[PREV, PREV]`)() + "locals {\nx = tostring(local.l59)\ny = format(\"%v\", local.l59)\nz = \"${local.l59}\"\n}\n"
	}},
	"locals that nest and choose": {policy: func() string {
		return doubling(60, `["a"]`, `[PREV, PREV]`)() + "locals {\nx = true ? local.l59 : local.l58\n}\n"
	}},
	"locals that multiply sets": {policy: doubling(20, `toset(["a","b","c"])`, `setproduct(PREV, PREV)`)},
	"locals that replace":       {policy: doubling(30, `"aaaa"`, `replace(PREV, "a", "aaaa")`)},
	"locals that join":          {policy: doubling(30, `"aaaa"`, `join(PREV, [PREV, PREV, PREV])`)},
	"locals that split":         {policy: locals("a = join(\"\", range(30000))\nb = [for i in range(30) : split(\"\", local.a)]")},
	"locals that split often": {policy: func() string {
		return locals("a = join(\",\", range(20000))\n" + fill(hostileRoom-100, numbered("b%d = split(\",\", local.a)\n")))()
	}},
	"locals that format": {policy: locals(`a = format("%1000000s", "x")` + "\n" + `b = format("%999s", "x")` + "\n" + `c = format("%.999f", 1)` + "\n" + `d = format("%*s", 9999999, "x")`)},
	"locals that format often": {policy: func() string {
		return locals(fill(hostileRoom, numbered("b%d = format(\"%%999s%%999s%%999s%%999s%%999s%%999s%%999s%%999s\", 1,2,3,4,5,6,7,8)\n")))()
	}},
	"locals with long formats": {policy: func() string {
		return locals("b = format(\"" + strings.Repeat("%999s", hostileRoom/8) + "\", [for i in range(1000) : \"x\"]...)")()
	}},
	"locals with one format of one word": {policy: func() string {
		return locals("b = format(\"" + strings.Repeat("%[1]999s", hostileRoom/9) + "\", \"x\")")()
	}},
	"locals that range":       {policy: locals("a = range(1000000)\nb = range(0, 1, 0.0000001)\nc = [for i in range(1024) : range(1024)]")},
	"locals that range often": {policy: func() string { return locals(fill(hostileRoom, numbered("b%d = range(1024)\n")))() }},
	"locals that loop":        {policy: locals("a = [for a in range(1000) : [for b in range(1000) : [for c in range(1000) : [for d in range(1000) : 1]]]]")},
	"locals that loop over loops": {policy: func() string {
		return locals(fill(hostileRoom, numbered("b%d = [for i in range(200) : [for j in range(200) : j]]\n")))()
	}},
	"locals that sort":               {policy: locals("a = sort([for i in range(1024) : tostring(1024-i)])\nb = [for i in range(1024) : sort(local.a)]")},
	"locals that are distinct":       {policy: func() string { return locals(fill(hostileRoom, numbered("b%d = distinct(range(1024))\n")))() }},
	"locals that are distinct, once": {policy: locals("a = flatten([for i in range(20) : [for j in range(1000) : i*1000+j]])\nb = distinct(local.a)")},
	"locals that contain": {policy: func() string {
		return locals("a = range(1024)\n" + fill(hostileRoom-100, numbered("b%d = contains(local.a, -1)\n")))()
	}},
	"locals that intersect": {policy: locals("a = flatten([for i in range(20) : [for j in range(1000) : i*1000+j]])\nb = setintersection(local.a, local.a)\nc = setunion(local.a, local.a)")},
	"locals that make sets": {policy: func() string {
		return locals("a = range(1024)\n" + fill(hostileRoom-100, numbered("b%d = toset(local.a)\n")))()
	}},
	"locals that make maps": {policy: func() string {
		return locals("a = [for i in range(1024) : tostring(i)]\n" + fill(hostileRoom-100, numbered("b%d = zipmap(local.a, local.a)\n")))()
	}},
	"locals that decode JSON": {policy: func() string {
		return locals("a = \"[${join(\",\", range(1000))}]\"\n" + fill(hostileRoom-100, numbered("b%d = jsondecode(local.a)\n")))()
	}},
	"locals that decode deep JSON": {policy: func() string {
		return locals("a = join(\"\", [for i in range(1000) : \"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"])\nb = jsondecode(\"${local.a}${replace(local.a, \"[\", \"]\")}\")")()
	}},
	"locals that decode CSV": {policy: func() string {
		return locals("a = join(\"\\n\", range(5000))\n" + fill(hostileRoom-100, numbered("b%d = csvdecode(local.a)\n")))()
	}},
	"locals that decode wide CSV": {policy: func() string {
		return locals("a = join(\",\", range(1000))\nb = csvdecode(\"${local.a}\\n${join(\"\\n\", [for i in range(1000) : local.a])}\")")()
	}},
	"locals with regular expressions": {policy: func() string {
		return locals(fill(hostileRoom, numbered("b%d = regexall(\"((a{1,30}){1,30})*\", \"aaaa\")\n")))()
	}},
	"locals with a computed expression":  {policy: locals("a = join(\"\", [for i in range(1000) : \"(a{1,1000})\"])\nb = regexall(local.a, \"aaaa\")")},
	"locals with repeated groups":        {policy: locals("b = regexall(\"(((a{1,9}){1,9}){1,9}){1,1}\", join(\"\", [for i in range(1000) : \"aaaaaaaaaaaaaaaaaaaaa\"]))")},
	"locals with a match at each letter": {policy: locals("a = join(\"\", range(20000))\nb = [for i in range(20) : regexall(\".\", local.a)]")},
	"locals with groups at each letter": {policy: func() string {
		return locals("a = join(\"\", range(1000))\nb = regexall(\"" + strings.Repeat("()", 400) + "\", local.a)")()
	}},
	"locals that parse numbers":    {policy: locals("a = tonumber(\"1e999999999\")\nb = parseint(join(\"\", [for i in range(1000) : \"ffffffffffffffff\"]), 16)\nc = pow(10, 100000000)\nd = pow(2, 4000)")},
	"locals that multiply numbers": {policy: doubling(150, `1.1`, `PREV * PREV`)},
	"locals that raise numbers":    {policy: func() string { return locals(fill(hostileRoom, numbered("b%d = pow(1.1, 40000)\n")))() }},
	"locals that substr": {policy: func() string {
		return locals("a = join(\"\", range(20000))\n" + fill(hostileRoom-100, numbered("b%d = substr(local.a, %d, 1)\n")))()
	}},
	"locals that count letters": {policy: func() string {
		return locals("a = join(\"\", range(20000))\n" + fill(hostileRoom-100, numbered("b%d = strlen(local.a)\n")))()
	}},
	"locals that index": {policy: func() string {
		return locals("a = [for i in range(1024) : \"x${i}\"]\n" + fill(hostileRoom-100, numbered("b%d = index(local.a, \"x1023\")\n")))()
	}},
	"locals with marks of combining": {policy: func() string {
		return locals("a = \"" + strings.Repeat("\u0301", hostileRoom/4) + "\"\nb = substr(local.a, 1, 2)\nc = strrev(local.a)\nd = upper(local.a)")()
	}},
	"deep templates":             {policy: func() string { return locals("a = " + strings.Repeat("\"${", 60) + "1" + strings.Repeat("}\"", 60))() }},
	"a template of many parts":   {policy: func() string { return locals("a = \"" + strings.Repeat("${1}", hostileRoom/5) + "\"")() }},
	"a template of loops":        {policy: locals("a = \"%{for a in range(1000)}%{for b in range(1000)}%{for c in range(1000)}x%{endfor}%{endfor}%{endfor}\"")},
	"a heredoc":                  {policy: func() string { return locals("a = <<E\n" + strings.Repeat("x\n", hostileRoom/2) + "E")() }},
	"an indented heredoc":        {policy: func() string { return locals("a = <<-E\n" + strings.Repeat("  ${1}\n", hostileRoom/9) + "E")() }},
	"a list of many":             {policy: func() string { return locals("a = [" + strings.Repeat("1,", hostileRoom/2) + "]")() }},
	"a list of many lists":       {policy: func() string { return locals("a = [" + strings.Repeat("[],", hostileRoom/3) + "]")() }},
	"an object of many":          {policy: func() string { return locals("a = {" + fill(hostileRoom, numbered("a%d=1,")) + "}")() }},
	"an object of one key":       {policy: func() string { return locals("a = {" + strings.Repeat("a=1,", hostileRoom/4) + "}")() }},
	"a sum of many":              {policy: func() string { return locals("a = 1" + strings.Repeat("+1", hostileRoom/2))() }},
	"splats":                     {policy: func() string { return locals("a = [[1]]" + strings.Repeat("[*]", 400))() }},
	"indices":                    {policy: func() string { return locals("a = [[1]]" + strings.Repeat("[0]", hostileRoom/3))() }},
	"traversals":                 {policy: func() string { return locals("a = local" + strings.Repeat(".a", hostileRoom/2))() }},
	"calls of unknown functions": {policy: func() string { return locals(fill(hostileRoom, numbered("b%d = lenght%d()\n")))() }},
	"unknown locals":             {policy: func() string { return locals(fill(hostileRoom, numbered("b%d = local.x%d\n")))() }},
	"unknown roots":              {policy: func() string { return locals(fill(hostileRoom, numbered("b%d = x%d\n")))() }},
	"keys that are nearly known": {policy: func() string { return "limits {\n" + fill(hostileRoom, numbered("timeout%d = 1\n")) + "}\n" }},
	"a key many times":           {policy: func() string { return "limits {\n" + fill(hostileRoom, verbatim("timeout = \"1s\"\n")) + "}\n" }},
	"blocks of one kind":         {policy: func() string { return fill(hostileRoom, verbatim("limits {}\n")) }},
	"blocks that nobody knows":   {policy: blocks("limitz%d {}\n")},
	"blocks with many labels":    {policy: func() string { return "agent" + strings.Repeat(" \"a\"", hostileRoom/5) + " {}\n" }},
	"gates":                      {policy: blocks("gate \"g%d\" {\nkind = \"command\"\nrun = \"x\"\n}\n")},
	"gates without anything":     {policy: blocks("gate \"g%d\" {}\n")},
	"gates with schemas": {policy: func() string {
		return fill(hostileRoom, numbered("gate \"g%d\" {\nkind = \"agent\"\nagent = agent.reviewer\noutput_schema = {type = \"object\", properties = {status = {enum = [\"pass\", \"fail\", \"stop\"]}, message = {type = \"string\"}}, required = [\"status\", \"message\"]}\n}\n"))
	}},
	"a gate with many fields": {policy: func() string {
		return "gate \"g\" {\nkind = \"agent\"\nagent = agent.reviewer\noutput {\n" + fill(hostileRoom, numbered("field \"f%d\" {}\n")) + "}\n}\n"
	}},
	"gates of many nodes": {plan: some(5000, ""), policy: func() string {
		return fill(hostileRoom/3, numbered("gate \"g%d\" {\nkind = \"command\"\nrun = \"x\"\n}\n")) +
			"policy \"default\" {\ndefault = true\nstep \"implement\" {\ncapabilities = [\"implement\"]\naccess = \"write\"\ngates = [" + fill(hostileRoom/3, numbered("\"g%d\",")) + "]\n}\n}\n"
	}},
	"known gates of many nodes": {plan: some(15000, ""), policy: func() string {
		var list []string
		gates := fill(hostileRoom/3, func(i int) string {
			list = append(list, fmt.Sprintf("gate.g%d", i+1))
			return fmt.Sprintf("gate \"g%d\" {\nkind = \"command\"\nrun = \"x\"\n}\n", i+1)
		})
		return gates + "policy \"default\" {\ndefault = true\nstep \"implement\" {\ncapabilities = [\"implement\"]\naccess = \"write\"\ngates = [" + strings.Join(list[:len(list)-1], ",") + "]\n}\n}\n"
	}},
	"a gate that is computed for each node":   {plan: many, policy: is("gate \"g\" {\nkind = \"command\"\nrun = \"${node.key}${join(\"\", [for i in range(200) : \"aaaaaaaaaa\"])}\"\n}\npolicy \"default\" {\ndefault = true\nstep \"implement\" {\ncapabilities = [\"implement\"]\naccess = \"write\"\ngates = [gate.g]\n}\n}\n")},
	"a policy that is computed for each node": {plan: many, policy: is("policy \"default\" {\ndefault = true\nstep \"implement\" {\ncapabilities = [\"implement\"]\naccess = \"write\"\ntimeout = \"${length([for i in range(1000) : node.key])}s\"\n}\n}\n")},
	"a long gate of many nodes": {plan: many, policy: func() string {
		return "gate \"g\" {\nkind = \"command\"\nrun = \"" + strings.Repeat("x", 500<<10) + "${node.key}\"\n}\npolicy \"default\" {\ndefault = true\nstep \"implement\" {\ncapabilities = [\"implement\"]\naccess = \"write\"\ngates = [gate.g]\n}\n}\n"
	}},
	"setup of many nodes":         {plan: many, policy: func() string { return "worktree {\nsetup = [" + strings.Repeat("\"x\",", 100000) + "]\n}\n" }},
	"policies":                    {policy: blocks("policy \"p%d\" {\nmatch {\nlane = [\"x\"]\n}\nstep \"s\" {\n}\n}\n")},
	"policies that all match":     {plan: some(5000, "**Lane**: x\n"), policy: blocks("policy \"p%d\" {\nmatch {\nlane = [\"x\"]\n}\nstep \"s\" {\n}\n}\n")},
	"policies that match no path": {plan: some(5000, "**Owns**: a/b/c/d\n"), policy: blocks("policy \"p%d\" {\nmatch {\npaths = [\"**/*a*b*c*d*e*\"]\n}\nstep \"s\" {\n}\n}\n")},
	"a policy that matches many labels": {plan: some(5000, "**Labels**: a\n"), policy: func() string {
		return "policy \"p\" {\nmatch {\nlabel = [" + fill(hostileRoom, numbered("\"l%d\",")) + "]\n}\nstep \"s\" {\n}\n}\n"
	}},
	"steps": {policy: func() string {
		return "policy \"default\" {\ndefault = true\n" + fill(hostileRoom, numbered("step \"s%d\" {}\n")) + "}\n"
	}},
	"steps of many nodes": {plan: some(15000, ""), policy: func() string {
		return "policy \"default\" {\ndefault = true\n" + fill(hostileRoom/2, numbered("step \"s%d\" {}\n")) + "}\n"
	}},
	"steps in a cycle": {policy: func() string {
		return "policy \"default\" {\ndefault = true\n" + fill(hostileRoom, func(i int) string { return fmt.Sprintf("step \"s%d\" {\nnext = \"s%d\"\n}\n", i, i^1) }) + "}\n"
	}},
	"agents": {policy: blocks("agent \"a%d\" {\nrunner = runner.claude\ncapabilities = [\"implement\"]\n}\n")},
	"agents of many nodes": {plan: some(10000, ""), policy: func() string {
		return fill(hostileRoom/2, numbered("agent \"a%d\" {\nrunner = runner.claude\ncapabilities = [\"implement\"]\n}\n"))
	}},
	"agents of different nodes": {plan: func() string {
		return "# P\n## Phase 1: x\n" + fill(hostileRoom/2, numbered("### Sprint 1.%d: S\n**Model**: m%d\n"))
	}, policy: func() string {
		return fill(hostileRoom/2, numbered("agent \"a%d\" {\nrunner = runner.claude\ncapabilities = [\"implement\"]\n}\n"))
	}},
	"agents that fall back": {policy: func() string {
		return fill(hostileRoom, func(i int) string {
			return fmt.Sprintf("agent \"a%d\" {\nrunner = runner.claude\ncapabilities = [\"x\"]\nfallback = [agent.a%d]\n}\n", i, i+1)
		})
	}},
	"agents that fall back to all": {policy: func() string {
		var l []string
		for i := range 5000 {
			l = append(l, fmt.Sprintf("agent.a%d", i))
		}
		return "locals {\nall = [" + strings.Join(l, ",") + "]\n}\n" + fill(hostileRoom/2, func(i int) string {
			if i >= 5000 {
				return strings.Repeat(" ", hostileBytes)
			}
			return fmt.Sprintf("agent \"a%d\" {\nrunner = runner.claude\ncapabilities = [\"x\"]\nfallback = local.all\n}\n", i)
		})
	}},
	"agents with unknown runners": {policy: blocks("agent \"a%d\" {\nrunner = runner.r%d\ncapabilities = [\"implement\"]\n}\n")},
	"agents with nearly known runners": {policy: func() string {
		return fill(hostileRoom, func(i int) string {
			return fmt.Sprintf("runner \"aaaaaaaa%05d\" {\nkind = \"claude\"\n}\nagent \"a%d\" {\nrunner = runner.aaaaaaab%05d\n}\n", i, i, i)
		})
	}},
	"agents with capabilities": {policy: blocks("agent \"a%d\" {\nrunner = runner.claude\ncapabilities = [\"c%d\"]\n}\n")},
	"agents with files":        {policy: blocks("agent \"a%d\" {\nrunner = runner.claude\npath = \"f%d.md\"\ncapabilities = [\"implement\"]\n}\n")},
	"runners":                  {policy: blocks("runner \"a%d\" {\nkind = \"claude\"\n}\n")},
	"models":                   {policy: blocks("model \"a%d\" {\nid = \"x\"\n}\n")},
	"secrets":                  {policy: blocks("secret \"a%d\" {\nenv = \"x\"\n}\n")},
	"variables":                {policy: blocks("variable \"a%d\" {\ndefault = 1\n}\n")},
	"variables of deep types": {policy: func() string {
		return "variable \"a\" {\ntype = " + strings.Repeat("list(", 60) + "string" + strings.Repeat(")", 60) + "\ndefault = []\n}\n"
	}},
	"variables that are checked": {policy: blocks("variable \"a%d\" {\ndefault = 1\nvalidation {\ncondition = length([for i in range(1000) : [for j in range(100) : j]]) > 0\nerror_message = \"x\"\n}\n}\n")},
	"checks of one variable": {policy: func() string {
		return "variable \"a\" {\ndefault = 1\n" + fill(hostileRoom, verbatim("validation {\ncondition = length([for i in range(100) : i]) > 0\nerror_message = \"x\"\n}\n")) + "}\n"
	}},
	"levels": {plan: some(2000, "**Goal**: x\n"), policy: func() string {
		return fill(hostileRoom/2, numbered("complexity \"l%d\" {\nrank = %d\nkeywords = [\"k%d\"]\n}\n"))
	}},
	"keywords": {plan: many, policy: func() string {
		return "complexity \"critical\" {\nrank = 4\nkeywords = [" + fill(hostileRoom, numbered("\"k%d\",")) + "]\n}\n"
	}},
	"keywords of many words": {plan: many, policy: func() string {
		return "complexity \"critical\" {\nrank = 4\nkeywords = [" + fill(hostileRoom, numbered("\"x x x x x x x %d\",")) + "]\n}\n"
	}},
	"dialects": {policy: blocks("dialect \"d%d\" {\nextends = dialect.sprint\n}\n")},
	"dialects that extend": {policy: func() string {
		return fill(hostileRoom, func(i int) string { return fmt.Sprintf("dialect \"d%d\" {\nextends = dialect.d%d\n}\n", i, i+1) })
	}},
	"dialects over a plan without items": {plan: filled(numbered("### Task 1.%d x\n")), policy: blocks("dialect \"d%d\" {\nextends = dialect.sprint\nitem {\nkeywords = [\"K%d\"]\n}\n}\n")},
	"a dialect with many keywords": {plan: many, policy: func() string {
		return "ralph {\ndialect = \"d\"\n}\ndialect \"d\" {\nextends = dialect.sprint\nitem {\nkeywords = [" + fill(hostileRoom/2, numbered("\"K%d\",")) + "]\n}\n}\n"
	}},
	"a dialect with a large pattern": {plan: long("# P\n## Phase 1: x\n### Sprint ", "a", ": x\n"), policy: is("ralph {\ndialect = \"d\"\n}\ndialect \"d\" {\nextends = dialect.sprint\nitem {\nid = \"((a{1,30}){1,30})*\"\n}\n}\n")},
	"dialects with large patterns":   {plan: filled(numbered("### Task 1.%d x\n")), policy: blocks("dialect \"d%d\" {\nextends = dialect.sprint\nitem {\nid = \"((a{1,30}){1,30})*\"\n}\n}\n")},
	"a runner with a large pattern":  {policy: blocks("runner \"a%d\" {\nkind = \"claude\"\nlimited_when {\noutput = \"((a{1,30}){1,30})*\"\n}\n}\n")},
	"notifications":                  {policy: blocks("notify {\non = [\"done\"]\nrun = \"x%d\"\n}\n")},
	"lanes":                          {plan: some(5000, "**Lane**: l99x\n"), policy: func() string { return "ralph {\nlanes = [" + fill(hostileRoom, numbered("\"l%d\",")) + "]\n}\n" }},
	"concurrency by lanes": {policy: func() string {
		return "concurrency {\nper_lane = {\n" + fill(hostileRoom, numbered("l%d = 1\n")) + "}\n}\n"
	}},
	"globs":                     {policy: func() string { return locals(fill(hostileRoom, numbered("b%d = glob(\"**/*\")\n")))() }, files: fewFiles},
	"globs with stars":          {policy: func() string { return locals(fill(hostileRoom, numbered("b%d = glob(\"*a*a*a*a*a*a*a*a*%d\")\n")))() }, files: fewFiles},
	"files":                     {policy: func() string { return locals(fill(hostileRoom-(500<<10), numbered("b%d = file(\"data\")\n")))() }, files: bigFile},
	"files of JSON":             {policy: func() string { return locals(fill(hostileRoom-(500<<10), numbered("b%d = jsonfile(\"data\")\n")))() }, files: bigFile},
	"a file of JSON":            {policy: locals("a = jsonfile(\"data\")"), files: jsonFile},
	"a file of JSON, looked at": {plan: many, policy: rule("length(jsonfile(\"data\")) > 0"), files: jsonFile},
	"protected globs": {policy: func() string {
		return "gate \"g\" {\nkind = \"command\"\nrun = \"x\"\nprotect = [" + fill(hostileRoom, numbered("\"a%d/**/*b*c*\",")) + "]\n}\n"
	}},
	"protected globs of many nodes": {plan: some(4000, "**Owns**: a/b/c/d/e/f/g\n**Verify**: `x`\n"), policy: func() string {
		return "gate \"g\" {\nkind = \"command\"\nrun = \"x\"\nprotect = [" + fill(hostileRoom/2, numbered("\"a%d/**/*b*c*\",")) + "]\n}\npolicy \"default\" {\ndefault = true\nstep \"implement\" {\ncapabilities = [\"implement\"]\naccess = \"write\"\ngates = [gate.g]\n}\n}\n"
	}},
	"brackets":                  {policy: long("locals {\nx = ", "[", "\n}\n")},
	"closing braces":            {policy: filled(verbatim("}"))},
	"quotes":                    {policy: filled(verbatim("\""))},
	"open templates":            {policy: filled(verbatim("\"${"))},
	"invalid letters":           {policy: filled(verbatim("\x00"))},
	"invalid UTF-8 in a policy": {policy: filled(verbatim("\xff\n"))},
	"stray words":               {policy: filled(verbatim("a\n"))},
	"stray equals":              {policy: filled(verbatim("= "))},
	"comments of a policy":      {policy: filled(verbatim("#\n"))},
	"an open comment":           {policy: long("/*", "/*", "")},
	"JSON instead":              {policy: filled(verbatim("{\"a\":"))},
	"blocks in blocks":          {policy: func() string { return fill(hostileRoom, verbatim("a { b { c { } } }\n")) }},
}

func fewFiles() map[string]string {
	m := map[string]string{}
	for i := range 300 {
		m[fmt.Sprintf("d%d/aaaaaaaaaaaaaaaaaaaa%d", i%10, i)] = ""
	}
	return m
}

func bigFile() map[string]string {
	return map[string]string{"data": "\"" + strings.Repeat("x", 500<<10) + "\""}
}

func jsonFile() map[string]string {
	return map[string]string{"data": "[" + strings.Repeat("[],", hostileRoom/3) + "1]"}
}
