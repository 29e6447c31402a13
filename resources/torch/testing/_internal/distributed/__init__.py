"""What PyTorch's own tests of torch.distributed use."""
