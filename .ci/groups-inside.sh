#!/bin/sh
# What .ci/groups.sh runs in its VM, as root, started by systemd: all of it as root, and as a
# user, once with systemd's own manager for users, once in a directory of groups that is theirs.
cd /opt/ralph || exit 1
what=$(cat what)
bad=
export PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root
say() { printf '\n== %s\n' "$*"; }
check() { # NAME COMMAND…
  say "$1"
  shift
  "$@" 2>&1 || { echo "FAILED: $*"; bad="$bad
  $*"; }
}
uname -sr
systemctl --version | head -n 1
bwrap --version
git --version
id ada >/dev/null 2>&1 || useradd -m -u 1000 ada
loginctl enable-linger ada
until [ -S /run/user/1000/bus ]; do sleep 0.2; done
install -d -o ada /tmp/ada

export RALPH_SANDBOX_REQUIRE=namespaces,bwrap,groups
# ada's processes, with systemd's manager of her own.
by_systemd() { setpriv --reuid=1000 --regid=1000 --clear-groups env HOME=/tmp/ada XDG_RUNTIME_DIR=/run/user/1000 "$@"; }
# ada's processes, alone in a group that is hers, without systemd.
by_chown() {
  g=$(mktemp -d /sys/fs/cgroup/own.XXXXXX) && chmod 755 $g && chown ada: $g $g/cgroup.procs $g/cgroup.subtree_control $g/cgroup.threads
  sh -c "echo \$\$ > $g/cgroup.procs; exec setpriv --reuid=1000 --regid=1000 --clear-groups env HOME=/tmp/ada PATH=/opt/few \"\$@\"" sh "$@"
}
# The same programs without systemd's.
mkdir -p /opt/few
for p in sh ls cat git head tail dd seq sleep env id unshare grep tr wc find mkdir rm cp test setsid nohup sed sort touch kill true sleep; do ln -sf "$(command -v $p)" /opt/few/; done
chmod -R a+rX /opt/ralph

run() { # WHO PACKAGE TESTS
  (cd "$2" && "$1" ./it.test -test.timeout 20m -test.run "$3" -test.v) > /run/said
  grep -E '^ *--- SKIP|UNPROVED|succeeded|^PASS|^--- PASS: .*(Memory|Group)' /run/said
  grep -q '^PASS' /run/said && return
  grep -B 40 'FAIL: ' /run/said || grep -vE '^ *(===|--- PASS)' /run/said | tail -n 60
  false
}
root() { "$@"; }
case " $what " in *" sandbox "*)
  for who in root by_systemd; do
    check "groups, $who" run $who internal/sandbox/group .
    check "sandboxes, $who" run $who internal/sandbox .
  done
  check "groups, by_chown" run by_chown internal/sandbox 'Group|AMemory|ALimit' ;;
esac
case " $what " in *" attacks "*)
  check "attacks, root and nobody" run root internal/sandbox/sandboxtest TestAttacks
  check "attacks, ada" run by_systemd internal/sandbox/sandboxtest TestAttacks ;;
esac
case " $what " in *" apply "*)
  for who in root by_systemd by_chown; do
    check "apply, $who" run $who app/cli 'TestScripts/(groups|sandbox|confined)$'
  done ;;
esac
# What ralph says, where namespaces are off, and of groups.
said() { (cd /tmp && "$@" /opt/ralph/ralph doctor) | grep -E 'sandbox|groups' -A 1; true; }
case " $what " in *" off "*)
  check "doctor, root" said root
  check "doctor, ada" said by_systemd
  check "doctor, ada without her manager" said setpriv --reuid=1000 --regid=1000 --clear-groups
  for off in kernel.unprivileged_userns_clone user.max_user_namespaces; do
    was=$(sysctl -n $off)
    sysctl -qw $off=0
    check "doctor, ada, $off=0" said by_systemd
    check "doctor, root, $off=0" said root
    sysctl -qw $off="$was"
  done ;;
esac
[ -z "$bad" ] && echo "GROUPS: all is well" || echo "GROUPS: failed:$bad"
