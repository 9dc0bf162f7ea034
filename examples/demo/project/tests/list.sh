bin/todo add one
bin/todo add two
[ "$(bin/todo list)" = "$(printf '1 one\n2 two')" ] || { echo "list prints: $(bin/todo list)"; exit 1; }
