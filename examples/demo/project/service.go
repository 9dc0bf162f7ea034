package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Service is what one client talks to.
type Service struct {
	links map[string]string // address by name
}

// New returns a service that knows no links.
func New() *Service { return &Service{links: map[string]string{}} }

// Serve answers every line of in with one line on out.
func (s *Service) Serve(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if _, err := fmt.Fprintln(out, s.answer(strings.Fields(lines.Text()))); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (s *Service) answer(words []string) string {
	if len(words) == 0 {
		return "error nothing said"
	}
	c, known := commands[words[0]]
	if !known {
		return "error unknown command"
	}
	return c(s, words[1:])
}

func (s *Service) ping([]string) string { return "ok" }
