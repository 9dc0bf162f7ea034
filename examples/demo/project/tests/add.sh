bin/todo add buy milk
[ "$(cat "$TODO_FILE")" = "buy milk" ] || { echo "the file holds: $(cat "$TODO_FILE")"; exit 1; }
