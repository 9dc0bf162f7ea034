// Command bd is the stand-in for the bd program that package bdtest makes. Only tests
// build it.
package main
