package syntax

import "strings"

// ScenarioWord reports whether a text begins as a scenario does: "**Given** a user, …".
func ScenarioWord(text string) bool {
	w, _, _ := strings.Cut(strings.ToLower(strings.TrimLeft(text, "*_ ")), " ")
	switch strings.TrimRight(w, "*_:,") {
	case "given", "when", "then", "and", "but":
		return true
	}
	return false
}

// goesOn reports whether a paragraph is one more scenario of the acceptance criteria
// above it; the word that it begins with is bold.
func goesOn(l *Label, paragraph string) bool {
	paragraph = strings.TrimLeft(paragraph, " ")
	bold := strings.HasPrefix(paragraph, "**") || strings.HasPrefix(paragraph, "__")
	return l.Name == Acceptance && bold && ScenarioWord(paragraph)
}
