import { Dialog } from "./basics";

const keys: [string, string][] = [
  ["?", "this help"],
  ["/", "find a sprint"],
  ["j  k", "next, previous row"],
  ["Enter", "open"],
  ["Esc", "back: to the page above"],
  ["g m", "go to Morning"],
  ["g i", "go to Inbox"],
  ["g e", "go to the epic"],
  ["g r", "go to its runs"],
  ["g g", "go to its graph"],
  ["g t", "go to its timeline"],
  ["g p", "go to its plan"],
  ["g c", "go to its cost"],
  ["g s", "go to what it can be trusted for"],
  ["g l", "go to its journal"],
  ["n", "next that waits for you"],
  ["N", "next that failed"],
  ["w", "in the graph: next that is at work"],
  ["← →", "in the graph: what it needs, what needs it"],
  ["↑ ↓", "in the graph: above, below in its column"],
  ["o", "in the graph: open or shut the phase"],
  ["f", "in a log: find a text in all of it"],
  ["n  N", "in a log with a text to find: next, previous hit (Enter, Shift+Enter)"],
  ["1 … 6", "tabs of a sprint: Now, Attempts, Diff, Log, Prompt, Why"],
  ["a", "approve: opens the form"],
  ["r", "reject, with what has to change"],
  ["t", "retry, with a hint; or answer"],
  ["s", "skip"],
  ["Ctrl+Enter", "send the form"],
];

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
