// Package sandboxtest attacks sandboxes. It has the table of attacks (attacks.txt), the
// program that runs them, and the world that they are run against: a home directory with
// keys, repositories, servers and processes, all of them made for the test.
//
// A test calls Main first thing in its TestMain, because the attacker, the victims and
// the ralph that starts them are the test binary. Build makes a world; whatever starts
// Site.Program in it gives its output to Site.Results. Attacks run on Linux only.
package sandboxtest
