// Package draft is what `ralph draft` does around a run: it makes the epic that writes or
// changes a plan, decides whether a started draft continues, reads its result from the
// record, and writes an approved plan into the checkout.
//
// In: a project, a plan's path and a wish. Out: an epic to apply, the values that
// app/view prints, and the plan in the checkout with its approval on record. The prompts
// of planners are in app/draft/rules; app/draft/judge judges their plans. It uses app/run,
// and never the terminal. Only app/cli and app/view import it.
package draft
