bin/todo add one
[ "$(bin/todo report)" = "$(printf '1 to do:\n1 one')" ] || { echo "report prints: $(bin/todo report)"; exit 1; }
