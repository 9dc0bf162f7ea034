// Package executortest holds what tests of the executor share: epics in one
// line, hand-written fakes of the contracts, and the tests that every
// implementation of a contract must pass.
//
// It imports executor, ir and the standard library. Only tests import it.
package executortest
