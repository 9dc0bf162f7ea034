package gate

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

var (
	// failedTest finds the names of failed tests in what common test tools print.
	failedTest = regexp.MustCompile(`(?m)^\s*(?:--- FAIL: (\S+)|FAILED (\S+::\S+)|not ok \d+ -? ?(.+)|✕ (.+?)(?: \(\d+ ms\))?)\s*$`)
	goFailed   = regexp.MustCompile(`--- FAIL: (\S+)`)
	// changing is what differs between two runs of the same failure.
	changing = regexp.MustCompile(`(?:/[\w.@+-]+){2,}|0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:ns|µs|ms|s|m|h)?`)
)

// headSize is how much of the output a signature looks at, in bytes.
const headSize = 64 << 10

// signature names a failure: by the failed tests, else by the first 20 lines of
// the output with numbers, paths and times blanked.
func signature(why, stdout, stderr string) (string, error) {
	var all strings.Builder
	for _, path := range slices.Compact([]string{stdout, stderr}) {
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(&all, io.LimitReader(f, headSize))
		if err = errors.Join(err, f.Close()); err != nil {
			return "", err
		}
	}
	return signOutput(why, all.String()), nil
}

// signText names a failure that was told in words.
func signText(text string) string { return signOutput("", text) }

func signOutput(why, all string) string {
	var names []string
	for _, m := range failedTest.FindAllStringSubmatch(all, -1) {
		names = append(names, strings.TrimSpace(m[1]+m[2]+m[3]+m[4]))
	}
	for _, m := range goFailed.FindAllStringSubmatch(all, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	text := strings.Join(slices.Compact(names), "\n")
	if text == "" {
		var lines []string
		sc := bufio.NewScanner(strings.NewReader(all))
		sc.Buffer(nil, headSize+1)
		for len(lines) < 20 && sc.Scan() {
			lines = append(lines, changing.ReplaceAllString(sc.Text(), "_"))
		}
		text = changing.ReplaceAllString(why, "_") + "\n" + strings.Join(lines, "\n")
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
