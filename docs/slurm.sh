#!/bin/bash
# A run on a cluster with Slurm: copy it, change the lines marked <--, and submit it with `sbatch slurm.sh`.
# docs/scaling.md says how to choose ranks and threads.

#SBATCH --job-name=grains
#SBATCH --nodes=4                  # <-- nodes
#SBATCH --ntasks-per-node=32       # <-- ranks of a node: its cores over --cpus-per-task
#SBATCH --cpus-per-task=2          # <-- threads of a rank: 1, or 2 to 4 where memory is short
#SBATCH --distribution=block:block # neighbours in space have neighbouring ranks, so keep those on one node
#SBATCH --hint=nomultithread       # one thread per core: sweeps wait for memory, and a second thread of a core waits with them
#SBATCH --exclusive                # all ranks wait for the slowest: nobody else on its node
#SBATCH --time=24:00:00            # <-- limit of the job
#SBATCH --signal=TERM@300          # five minutes before the limit: drystone writes a checkpoint and ends with exit code 130
#SBATCH --output=%x-%j.log

set -eu

scene=heap.toml                    # <-- scene
folder=heap                        # <-- where results go: on a parallel file system, all ranks write the same files

# module load openmpi hdf5         # <-- the MPI that drystone was built with

export OMP_NUM_THREADS=1           # libraries start no threads of their own; drystone's are those of --threads
export OPENBLAS_NUM_THREADS=1
export OMP_PROC_BIND=close OMP_PLACES=cores

# The same script goes on where the last job stopped, with any number of ranks: submit it again until the run is done.
if [ -e "$folder/checkpoint.h5" ]; then
    command=(drystone resume "$folder")
else
    command=(drystone run "$scene" --output "$folder")
fi
srun --cpu-bind=cores --cpus-per-task="$SLURM_CPUS_PER_TASK" \
    "${command[@]}" --threads "$SLURM_CPUS_PER_TASK" --ranks-report
