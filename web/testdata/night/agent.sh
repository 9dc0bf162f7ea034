# A stand-in for a coding agent: one file for each sprint.
echo "working on $RALPH_NODE: <script>alert(1)</script>"
echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
if [ -s "$RALPH_FEEDBACK" ]; then cat "$RALPH_FEEDBACK" >> "out-$RALPH_NODE.txt"; fi
while [ -e "$HOLD" ] && [ "$RALPH_NODE" = "2.3" ]; do sleep 0.1; done
exit 0
