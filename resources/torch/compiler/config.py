"""Settings of torch.compiler."""

job_id = None
dynamic_sources = ""
unbacked_sources = ""
force_disable_caches = False
