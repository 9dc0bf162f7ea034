package journal

import (
	"os"
	"testing"

	"github.com/ralph-compiler/ralph/internal/temptest"
)

func TestMain(m *testing.M) { os.Exit(temptest.Run(m)) }
