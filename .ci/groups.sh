#!/bin/sh
# Control groups, as limits.memory and limits.cpu need them, on a machine that has them: a
# Debian of its own kernel with systemd, in a VM of one processor. Needs root, qemu-system-x86_64,
# mmdebstrap, mke2fs (apt install qemu-system-x86 mmdebstrap e2fsprogs) and 3 GB of disk.
#   .ci/groups.sh [WHAT…]   all, or of: sandbox attacks apply off
# SUITE is Debian's name (default bookworm); VM (default /tmp/ralph-vm-SUITE) keeps the system
# between runs.
set -eu
cd "$(dirname "$0")/.."
SUITE=${SUITE:-bookworm}
VM=${VM:-/tmp/ralph-vm-$SUITE}
[ "$(id -u)" = 0 ] || { echo "groups: it unpacks a system, and has to be root for that"; exit 1; }
for p in qemu-system-x86_64 mmdebstrap mke2fs; do
  command -v "$p" >/dev/null || { echo "groups: there is no $p: apt install qemu-system-x86 mmdebstrap e2fsprogs"; exit 1; }
done
mkdir -p "$VM"
[ -e "$VM/root/boot" ] || nice mmdebstrap --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' "$SUITE" "$VM/root" \
  --include=passwd,systemd,systemd-sysv,dbus,dbus-user-session,libpam-systemd,git,bubblewrap,procps,linux-image-cloud-amd64,initramfs-tools

# What is tested, for a system without Go.
own=$VM/root/opt/ralph
rm -rf "$own"
mkdir -p "$own"
git archive HEAD app/cli internal/sandbox examples/demo docs | tar -x -C "$own"
export CGO_ENABLED=0
nice go build -o "$own/ralph" ./cmd/ralph
for p in app/cli internal/sandbox internal/sandbox/group internal/sandbox/sandboxtest; do
  nice go test -c -o "$own/$p/it.test" "./$p"
done
cp .ci/groups-inside.sh "$own/inside.sh"
printf '%s\n' "${*:-sandbox attacks apply off}" > "$own/what"
cat > "$VM/root/etc/systemd/system/ralph-groups.service" <<'UNIT'
[Unit]
After=multi-user.target
[Service]
ExecStart=/bin/sh /opt/ralph/inside.sh
ExecStopPost=/bin/systemctl poweroff
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS1
UNIT
mkdir -p "$VM/root/etc/systemd/system/default.target.wants"
ln -sf ../ralph-groups.service "$VM/root/etc/systemd/system/default.target.wants/ralph-groups.service"
rm -f "$VM/disk"
mke2fs -q -t ext4 -d "$VM/root" "$VM/disk" 20G # most of it is never written

# KVM inside a VM may hang: VM_ACCEL=kvm where it is known to work.
nice timeout 3600 qemu-system-x86_64 -machine accel=${VM_ACCEL:-tcg} -cpu max -smp 1 -m 3072 -display none -no-reboot -serial "file:$VM/console" -serial stdio -monitor none -nic none \
  -kernel "$VM"/root/boot/vmlinuz-* -initrd "$VM"/root/boot/initrd.img-* -append "root=/dev/vda rw console=ttyS0 quiet no_timer_check" \
  -drive "file=$VM/disk,format=raw,if=virtio,cache=unsafe" < /dev/null | tee "$VM/said"
grep -q '^GROUPS: all is well' "$VM/said"
