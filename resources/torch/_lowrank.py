"""Approximations of low rank, with random subspaces."""

import torch


def _subspace(A, q, niter, M):
    """An orthonormal base of about the largest q directions of A - M."""
    R = torch.randn(A.shape[-1], q, dtype=A.dtype, device=A.device)
    B = A if M is None else A - M
    Q = torch.linalg.qr(B @ R).Q
    for _ in range(niter):
        Q = torch.linalg.qr(B.mH @ Q).Q
        Q = torch.linalg.qr(B @ Q).Q
    return Q


def svd_lowrank(A, q=6, niter=2, M=None):
    """U, S, V with A - M about U diag(S) V^H."""
    q = 6 if q is None else q
    B = A if M is None else A - M
    wide = A.shape[-2] < A.shape[-1]
    if wide:
        B = B.mH
    Q = _subspace(B, q, niter, None)
    U, S, Vh = torch.linalg.svd(Q.mH @ B, full_matrices=False)
    U, V = Q @ U, Vh.mH
    return (V, S, U) if wide else (U, S, V)


def pca_lowrank(A, q=None, center=True, niter=2):
    """svd_lowrank of A, its columns moved to mean 0 if center."""
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not (q >= 0 and q <= min(m, n)):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if not center:
        return svd_lowrank(A, q, niter=niter, M=None)
    return svd_lowrank(A - A.mean(dim=(-2,), keepdim=True), q, niter=niter, M=None)


def lobpcg(A, k=None, B=None, X=None, n=None, iK=None, niter=None, tol=None, largest=None, method=None, tracker=None,
           ortho_iparams=None, ortho_fparams=None, ortho_bparams=None):
    """The k largest (or smallest) eigenvalues of a symmetric matrix, by the dense solver."""
    k = (X.shape[-1] if X is not None else 1) if k is None else k
    if B is not None:
        L = torch.linalg.cholesky(B)
        inner = torch.linalg.solve_triangular(L, A, upper=False)
        values, vectors = torch.linalg.eigh(torch.linalg.solve_triangular(L, inner.mH, upper=False))
        vectors = torch.linalg.solve_triangular(L.mH, vectors, upper=True)
    else:
        values, vectors = torch.linalg.eigh(A)
    if largest is None or largest:
        return values[..., -k:].flip(-1), vectors[..., -k:].flip(-1)
    return values[..., :k], vectors[..., :k]
