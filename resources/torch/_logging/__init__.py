"""torch._logging: logs are Kerf's, so settings are only taken."""


def set_logs(*, all=None, modules=None, **artifacts):  # noqa: A002
    """Say which logs are wanted: nothing is printed here."""


def get_artifact_logger(module_qname, artifact_name):
    """A logger of the standard library."""
    import logging

    return logging.getLogger(f"{module_qname}.__{artifact_name}")
