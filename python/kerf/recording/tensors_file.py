"""Tensors in the format of safetensors, which Kerf and others read without running anything."""
import json
import struct

NAMES = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "int32": "I32", "int16": "I16",
         "int8": "I8", "uint8": "U8", "bool": "BOOL", "complex64": "C64", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2"}


def bytes_of(tensor):
    import torch

    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return bytes(flat.view(torch.uint8).numpy()) if flat.numel() else b""


def write(path, tensors):
    """Returns the names that the format has no dtype for."""
    header, parts, at, left = {}, [], 0, []
    for name, tensor in tensors.items():
        kind = NAMES.get(str(tensor.dtype).rpartition(".")[2])
        if kind is None:
            left.append(name)
            continue
        data = bytes_of(tensor)
        header[name] = {"dtype": kind, "shape": [int(s) for s in tensor.shape], "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for data in parts:
            file.write(data)
    return left
