# slurm.bash: sourced: a Slurm of one node in the folder $out/slurm, with its own key, ports and state:
# munged, slurmctld and slurmd of Debian's packages, without systemd, cgroups or accounting. slurm_start,
# slurm_stop.
slurm_have() {
    local c
    for c in munged slurmctld slurmd sbatch squeue scancel scontrol; do
        command -v $c >/dev/null || PATH=$PATH:/usr/sbin command -v $c >/dev/null || { echo "$c"; return 1; }
    done
}

slurm_conf() { # slurm_conf FOLDER PORT
    local dir=$1 port=$2 host user cgroup=cgroup/v1
    host=$(hostname -s)
    user=$(id -un)
    # Before 23.02 there is no `disabled`; with nothing that uses them, v1 does not touch any group.
    case $(slurmd -V | grep -o '[0-9][0-9]\.[0-9]*' | head -n 1) in
    2[3-9].* | [3-9]?.*) cgroup=disabled ;;
    esac
    printf 'CgroupPlugin=%s\nCgroupMountpoint=%s/cgroup\n' "$cgroup" "$dir" >"$dir/cgroup.conf"
    cat >"$dir/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MaxArraySize=4
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 RealMemory=8000 State=UNKNOWN
PartitionName=short Nodes=$host Default=YES MaxTime=60 State=UP
CONF
}

slurm_start() {
    local dir=$out/slurm
    PATH=$PATH:/usr/sbin
    mkdir -p "$dir/state" "$dir/spool"
    chmod 755 "$out" "$dir"
    (umask 077 && head -c 1024 /dev/urandom >"$dir/munge.key")
    slurm_conf "$dir" $((20000 + $$ % 20000))
    export SLURM_CONF=$dir/slurm.conf
    munged --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munged.pid" \
        --seed-file="$dir/munge.seed" --log-file="$dir/munged.log" || return 1
    slurmctld -f "$SLURM_CONF" && slurmd -f "$SLURM_CONF" || return 1
    for _ in $(seq 100); do
        timeout 10 sinfo -h -o %T 2>/dev/null | grep -q idle && return 0
        sleep 0.2
    done
    tail -n 20 "$dir"/*.log
    return 1
}

# Ends the jobs, then the daemons by the numbers that they wrote down; waits until they are gone.
slurm_stop() {
    local dir=$out/slurm name pid
    [ -e "$dir/slurmctld.pid" ] && timeout 10 scancel --user="$(id -un)" 2>/dev/null
    for _ in $(seq 50); do
        [ -n "$(timeout 10 squeue -h 2>/dev/null)" ] || break
        sleep 0.2
    done
    for name in slurmd slurmctld munged; do
        pid=$(cat "$dir/$name.pid" 2>/dev/null) || continue
        kill "$pid" 2>/dev/null || continue
        for _ in $(seq 50); do
            kill -0 "$pid" 2>/dev/null || continue 2
            sleep 0.2
        done
        kill -9 "$pid" 2>/dev/null
    done
}
