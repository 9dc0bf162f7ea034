package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/ralph-compiler/ralph/executor"
	"github.com/ralph-compiler/ralph/executor/runner"
)

// option is a setting of a session.
type option struct {
	ID       string          `json:"id"`
	Category string          `json:"category"`
	Current  json.RawMessage `json:"currentValue"`
	Options  json.RawMessage `json:"options"`
}

// values are what a setting may be: a list, or a list of groups.
func (o option) values() []string {
	var list []struct {
		Value   string `json:"value"`
		Options []struct {
			Value string `json:"value"`
		} `json:"options"`
	}
	if json.Unmarshal(o.Options, &list) != nil {
		return nil
	}
	var out []string
	for _, v := range list {
		if v.Value != "" {
			out = append(out, v.Value)
		}
		for _, w := range v.Options {
			out = append(out, w.Value)
		}
	}
	return out
}

func (o option) current() string {
	var s string
	_ = json.Unmarshal(o.Current, &s) // a setting that is on or off is none of ours
	return s
}

// option finds the setting that chooses a model, or a mode.
func (o opened) option(what string) (option, bool) {
	for _, by := range []func(option) bool{
		func(x option) bool { return x.Category == what },
		func(x option) bool { return x.ID == what },
	} {
		if i := slices.IndexFunc(o.Options, by); i >= 0 {
			return o.Options[i], true
		}
	}
	return option{}, false
}

// choice is one of several ways in which programs let something be chosen.
type choice struct {
	what    string // model, mode
	current string
	all     []string
	method  string
	params  func(value string) any
}

// setModel is the method of programs that do not have models among the options; it
// is no part of the protocol any more.
const setModel = "session/set_model"

// choices are the model and the mode that can be chosen; nil where they cannot.
func (o opened) choices(session string) (model, mode *choice) {
	id := sdk.SessionId(session)
	byOption := func(what string) *choice {
		x, ok := o.option(what)
		if !ok {
			return nil
		}
		return &choice{what, x.current(), x.values(), sdk.AgentMethodSessionSetConfigOption, func(v string) any {
			return sdk.SetSessionConfigOptionRequest{ValueId: &sdk.SetSessionConfigOptionValueId{SessionId: id, ConfigId: sdk.SessionConfigId(x.ID), Value: sdk.SessionConfigValueId(v)}}
		}}
	}
	if model = byOption("model"); model == nil && len(o.Models.All) > 0 {
		model = &choice{"model", o.Models.Current, nil, setModel, func(v string) any {
			return map[string]string{"sessionId": session, "modelId": v}
		}}
		for _, m := range o.Models.All {
			model.all = append(model.all, m.ID)
		}
	}
	if len(o.Modes.All) == 0 {
		return model, byOption("mode")
	}
	mode = &choice{"mode", o.Modes.Current, nil, sdk.AgentMethodSessionSetMode, func(v string) any {
		return sdk.SetSessionModeRequest{SessionId: id, ModeId: sdk.SessionModeId(v)}
	}}
	for _, m := range o.Modes.All {
		mode.all = append(mode.all, m.ID)
	}
	return model, mode
}

// settle chooses the model and the mode that the agent is to have. Its error is a
// *executor.Failure, ctx's, or errGone.
func (t *turn) settle(ctx context.Context, h hello, o opened) error {
	model, mode := o.choices(o.ID)
	// A model that the program is started with needs no choice.
	if want := runner.ModelOf(t.run); want != "" && !slices.ContainsFunc(t.run.Runner.Run, func(a string) bool { return strings.Contains(a, "run.model") }) {
		names := []string{want}
		if p := t.run.Alias.Provider; p != "" {
			names = append(names, p+"/"+want)
		}
		if model == nil {
			return runner.Configuration(fmt.Errorf("agent %s: %s lets no model be chosen over ACP; put \"${run.model}\" where its run = […] takes one, or name no model for the agent", runner.AgentOf(t.run), t.name(h)))
		}
		got, err := t.pick(ctx, h, model, names)
		if err != nil {
			return err
		}
		t.turn.Model(got)
	} else if model != nil && model.current != "" && want == "" {
		t.turn.Model(model.current)
	}
	if t.run.Slug == "" {
		return nil
	}
	if mode == nil {
		return runner.Configuration(fmt.Errorf("agent %s: %s has no modes, so that it has none of the name %q; take slug away from the agent, or give it a file", runner.AgentOf(t.run), t.name(h), t.run.Slug))
	}
	_, err := t.pick(ctx, h, mode, []string{t.run.Slug})
	return err
}

// pick chooses the first of several names that is known.
func (t *turn) pick(ctx context.Context, h hello, c *choice, names []string) (string, error) {
	i := slices.IndexFunc(names, func(n string) bool { return slices.Contains(c.all, n) })
	if i < 0 {
		known := c.all[:min(len(c.all), 12)]
		return "", runner.Configuration(fmt.Errorf("agent %s: %s knows no %s %q; it knows %s", runner.AgentOf(t.run), t.name(h), c.what, names[0], strings.Join(known, ", ")))
	}
	if names[i] == c.current {
		return names[i], nil
	}
	err := t.program.call(ctx, c.method, c.params(names[i]), nil)
	if refused, ok := errors.AsType[*sdk.RequestError](err); ok {
		f := t.classify(c.method, refused, h)
		if f.Class == executor.FailTransient {
			f.Class = executor.FailConfig
		}
		return "", f
	}
	return names[i], err
}
