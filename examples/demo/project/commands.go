package main

// commands are what a client can say: the first word of a line.
var commands = map[string]func(*Service, []string) string{
	"ping": (*Service).ping,
}
