#!/usr/bin/env bash
# A Slurm of one node, this machine, for tests: by root, without systemd, with nothing outside
# FOLDER but processes and two ports.
#
#	scripts/slurm/single-node.sh start FOLDER    # then export SLURM_CONF=FOLDER/slurm.conf
#	scripts/slurm/single-node.sh stop FOLDER
#
# It wants Debian's slurm-wlm and munge.
set -euo pipefail

d=$2
case $1 in
start)
	mkdir -p "$d/controller" "$d/node"
	chmod 0755 "$d"
	host=$(hostname -s)
	port=$((20000 + RANDOM % 12000))
	(umask 0377 && head -c 128 /dev/urandom > "$d/munge.key")
	munged --force --key-file="$d/munge.key" --socket="$d/munge.socket" \
		--pid-file="$d/munge.pid" --log-file="$d/munge.log" --seed-file="$d/munge.seed"
	cat > "$d/slurm.conf" << C
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$d/munge.socket
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=bf_interval=1,sched_interval=1,sched_min_interval=100000
ReturnToService=2
StateSaveLocation=$d/controller
SlurmdSpoolDir=$d/node
SlurmctldPidFile=$d/controller.pid
SlurmdPidFile=$d/node.pid
SlurmctldLogFile=$d/controller.log
SlurmdLogFile=$d/node.log
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=1000 State=UNKNOWN
PartitionName=one Nodes=$host Default=YES MaxTime=60 State=UP
C
	printf 'CgroupAutomount=no\nIgnoreSystemd=yes\nCgroupPlugin=cgroup/v1\n' > "$d/cgroup.conf"
	export SLURM_CONF="$d/slurm.conf"
	slurmctld
	slurmd
	for _ in $(seq 300); do
		sinfo --noheader --format=%T | grep -q idle && exit 0
		sleep 0.2
	done
	echo "single-node.sh: no node came up:" >&2
	cat "$d"/*.log >&2
	exit 1
	;;
stop)
	for daemon in node controller munge; do
		if [ -s "$d/$daemon.pid" ]; then
			kill "$(cat "$d/$daemon.pid")" || true
		fi
	done
	;;
esac
