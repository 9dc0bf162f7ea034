[ "$(bin/todo count)" = 0 ] || { echo "an empty list counts $(bin/todo count), want 0"; exit 1; }
bin/todo add one
[ "$(bin/todo count)" = 1 ] || { echo "one item counts $(bin/todo count), want 1"; exit 1; }
