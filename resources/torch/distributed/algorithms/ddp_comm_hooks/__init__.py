"""Hooks of DistributedDataParallel.register_comm_hook."""
