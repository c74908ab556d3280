#!/bin/sh
# On the login node, once, in a folder that all nodes see:
#   tunescope tune orders.csv --target left --minutes 60 --run-dir run --later
#   sbatch slurm.sh
#SBATCH --array=0-31
#SBATCH --cpus-per-task=1
#SBATCH --mem=4G
#SBATCH --time=02:00:00
#SBATCH --requeue
exec tunescope work run --export best.skops
