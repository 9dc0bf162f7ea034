# Every agent of this repository. It notes that it ran, and does what its sprint needs.
echo "$RALPH_EPIC $RALPH_NODE $RALPH_STEP-$RALPH_ATTEMPT" >> "$HOME/agents.log"
say() { printf '%s\n' "$1" > "$RALPH_OUTCOME"; }
echo "$RALPH_NODE" > "out-$RALPH_NODE.txt"
case $RALPH_NODE:$RALPH_STEP in
1.1:implement) [ -s "$RALPH_FEEDBACK" ] || echo bad >> out-1.1.txt;;
1.2a:implement) echo left > shared.txt;;
1.2b:implement) echo right > shared.txt;;
1.3:merge) printf 'left\nright\n' > shared.txt; rm -f out-1.3.txt;;
1.4:merge) ;;
1.6:implement) echo "bad $RALPH_ATTEMPT" >> out-1.6.txt;;
1.8:implement) say '{"result":"success","needs_human":true,"summary":"Which of the two ways?"}';;
1.9:implement) say '{"result":"failed","summary":"I cannot do it"}';;
1.13:implement) [ -f "$HOME/go-on" ] || { echo $$ > "$HOME/at-1.13"; exec sleep 300; };;
1.17:implement) exit 127;;
esac
