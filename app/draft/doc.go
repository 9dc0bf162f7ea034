// Package draft is what `ralph draft` does around a run: it makes the epic by which a plan
// is written or changed, decides whether a draft that began goes on, reads what came of it
// from the record, and writes an approved plan into the checkout.
//
// In: a project, a plan's path and a wish. Out: an epic to apply, the values that
// app/view prints, and the plan in the checkout with its approval on record. What planners
// are told is app/draft/rules; what their plans are judged by is app/draft/judge. It uses
// app/run, and never the terminal. Only app/cli and app/view import it.
package draft
