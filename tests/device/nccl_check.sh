#!/bin/bash
# nccl_check.sh KERF RECORDINGS [GROUP [BACKEND]]: Kerf's several ranks over NCCL on the CUDA devices of this machine, two
# ranks: recorded modules, the ConvNeXt example, graphs with every collective, errors. Prints PASS or FAIL for each case and
# the verdicts of what failed; exit 1 where one failed. RECORDINGS: folder of recordings of torch.distributed, or "" for none.
# GROUP and BACKEND (nccl, cuda) are for trying the script itself where there is no device: threads, llvm.
# KERF_NCCL names libnccl.so.2 where the loader does not find it (that of PyTorch: site-packages/nvidia/nccl/lib).
set -u
kerf=$1 recordings=$2 backend=${4:-cuda}
export KERF_PROCESS_GROUP=${3:-nccl}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# case NAME STATUS PATTERN COMMAND…: PASS where the command ends with that status and says that. PATTERN: one a line, and all
# of them are said.
says() { local pattern; while read -r pattern; do grep -qE "$pattern" <<<"$2" || return 1; done <<<"$1"; }
case_() {
  local name=$1 status=$2 pattern=$3 out got; shift 3
  out=$("$@" 2>&1); got=$?
  if [[ $got == "$status" ]] && says "$pattern" "$out"; then
    printf 'PASS  %-36s %s\n' "$name" "$(tail -n 1 <<<"$out" | cut -c1-100)"; passed=$((passed + 1))
  else
    printf 'FAIL  %-36s exit %s instead of %s\n' "$name" "$got" "$status"; sed 's/^/      /' <<<"$out" | tail -n 25
    failed=$((failed + 1))
  fi
}

# ranks NAME INPUTS BODY0 [BODY1]: a folder with a graph for each of two ranks.
ranks() {
  local folder=$work/$1 rank body
  mkdir -p "$folder"
  for rank in 0 1; do
    body=$3; [[ $rank == 1 && $# -gt 3 ]] && body=$4
    { echo 'class GraphModule(torch.nn.Module):'
      echo "    def forward(self, $2):"
      sed 's/^/        /' <<<"$body"; } >"$folder/rank$rank.txt"
  done
}

# compare NAME [COUNT]: the same as on the host, and each rank's device took at least one collective; COUNT 0: none, which
# NCCL cannot do.
compare() {
  local taken='[1-9][0-9]*' over=0 pattern=same rank
  [[ ${2:-} == 0 ]] && taken=0 over='[1-9][0-9]*'
  [[ $KERF_PROCESS_GROUP == nccl ]] && for rank in 0 1; do
    pattern+=$'\n'"rank $rank: $taken collectives of graphs on the device, $over over the host"
  done
  case_ "graph $1" 0 "$pattern" "$kerf" compare "$work/$1" --backend "$backend" -v
}
f='torch.ops._c10d_functional'

x='x: "f32[4, 6][6, 1]cpu"'
for op in sum avg product min max; do
  ranks "all_reduce_$op" "$x" "y = torch.ops.aten.mul.Tensor(x, 0.5)
r = $f.all_reduce.default(y, '$op', '0')
w = $f.wait_tensor.default(r)
z = torch.ops.aten.add.Tensor(w, x)
return (z, w)"
  compare "all_reduce_$op"
done
for type in f64 f16 bf16; do
  ranks "all_reduce_$type" "x: \"$type[4, 6][6, 1]cpu\"" "r = $f.all_reduce.default(x, 'sum', '0')
w = $f.wait_tensor.default(r)
return (w,)"
  compare "all_reduce_$type"
done
for op in sum band bor bxor; do
  ranks "all_reduce_i64_$op" 'x: "i64[5][1]cpu"' "r = $f.all_reduce.default(x, '$op', '0')
w = $f.wait_tensor.default(r)
return (w,)"
  compare "all_reduce_i64_$op" "$([[ $op == sum ]] || echo 0)"
done
ranks all_reduce_strided "$x" "t = torch.ops.aten.permute.default(x, [1, 0])
r = $f.all_reduce.default(t, 'sum', '0')
w = $f.wait_tensor.default(r)
z = torch.ops.aten.mul.Tensor(w, 2.0)
return (z,)"
compare all_reduce_strided
ranks all_gather "$x" "g = $f.all_gather_into_tensor.default(x, 2, '0')
w = $f.wait_tensor.default(g)
z = torch.ops.aten.relu.default(w)
return (z,)"
compare all_gather
ranks reduce_scatter "$x" "r = $f.reduce_scatter_tensor.default(x, 'sum', 2, '0')
w = $f.wait_tensor.default(r)
z = torch.ops.aten.tanh.default(w)
return (z,)"
compare reduce_scatter
# Rank 0 keeps one row and sends three; rank 1 sends all of its rows.
ranks all_to_all "$x" "a = $f.all_to_all_single.default(x, [1, 4], [1, 3], '0')
w = $f.wait_tensor.default(a)
z = torch.ops.aten.mul.Tensor(w, 3.0)
return (z,)" "a = $f.all_to_all_single.default(x, [3, 0], [4, 0], '0')
w = $f.wait_tensor.default(a)
z = torch.ops.aten.mul.Tensor(w, 3.0)
return (z,)"
compare all_to_all
ranks broadcast "$x" "b = $f.broadcast.default(x, 1, '0')
w = $f.wait_tensor.default(b)
z = torch.ops.aten.neg.default(w)
return (z,)"
compare broadcast
ranks coalesced "$x, y: \"f32[2, 3][3, 1]cpu\"" "c = $f.all_reduce_coalesced.default([x, y], 'sum', '0')
a = c[0]
b = c[1]
wa = $f.wait_tensor.default(a)
wb = $f.wait_tensor.default(b)
g = $f.all_gather_into_tensor_coalesced.default([wa, wb], 2, '0')
ga = g[0]
gb = g[1]
va = $f.wait_tensor.default(ga)
vb = $f.wait_tensor.default(gb)
s = $f.reduce_scatter_tensor_coalesced.default([va, vb], 'sum', 2, '0')
sa = s[0]
sb = s[1]
ua = $f.wait_tensor.default(sa)
ub = $f.wait_tensor.default(sb)
return (ua, ub)"
compare coalesced
ranks products 'x: "f32[64, 128][128, 1]cpu", w: "f32[128, 96][96, 1]cpu"' "m = torch.ops.aten.mm.default(x, w)
r = $f.all_reduce.default(m, 'sum', '0')
v = $f.wait_tensor.default(r)
s = torch.ops.aten.sum.dim_IntList(v, [1], True)
d = torch.ops.aten.div.Tensor(v, 96.0)
e = torch.ops.aten.add.Tensor(d, s)
g = $f.all_gather_into_tensor.default(e, 2, '0')
k = $f.wait_tensor.default(g)
z = torch.ops.aten.tanh.default(k)
return (z,)"
compare products

cat >"$work/layer.txt" <<'G'
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[6, 8][8, 1]cpu", w1: "f32[8, 12][12, 1]cpu", w2: "f32[12, 8][8, 1]cpu"):
        up: "f32[6, 12][12, 1]cpu" = torch.ops.aten.mm.default(x, w1)
        act: "f32[6, 12][12, 1]cpu" = torch.ops.aten.relu.default(up)
        down: "f32[6, 8][8, 1]cpu" = torch.ops.aten.mm.default(act, w2)
        out: "f32[6, 8][8, 1]cpu" = torch.ops.aten.tanh.default(down)
        return (out,)
G
"$kerf" shard "$work/layer.txt" --mesh 2 --placement w1=S1 --placement w2=S0 -o "$work/tensor_parallel" >/dev/null
compare tensor_parallel
"$kerf" shard "$work/layer.txt" --mesh 2 --placement x=S0 -o "$work/data_parallel" >/dev/null
compare data_parallel

# What goes wrong is told, and ends.
ranks sizes "$x" "r = $f.all_reduce.default(x, 'sum', '0')
w = $f.wait_tensor.default(r)
return (w,)" "y = torch.ops.aten.slice.Tensor(x, 0, 0, 2)
r = $f.all_reduce.default(y, 'sum', '0')
w = $f.wait_tensor.default(r)
return (w,)"
case_ 'sizes that differ' 1 'differs: rank 0 calls all_reduce of sum float32 \[4, 6\], rank 1 calls' \
  "$kerf" run "$work/sizes" --backend "$backend"
ranks missing "$x" "r = $f.all_reduce.default(x, 'sum', '0')
w = $f.wait_tensor.default(r)
return (w,)" "n = torch.ops.aten.neg.default(x)
return (n,)"
case_ 'a rank that does not come' 1 'rank 0 waited in all_reduce .* for rank 1; rank 1 has ended' \
  "$kerf" run "$work/missing" --backend "$backend"

case_ 'ConvNeXt example, f32' 0 'one rank' "$kerf" ranks --train convnext --ranks 2
case_ 'ConvNeXt example, f64' 0 'one rank' "$kerf" ranks --train convnext --ranks 2 --dtype f64
if [[ -n $recordings ]]; then
  case_ 'recordings over the process group' 0 . "$kerf" conformance "$recordings"
  devices=$(nvidia-smi -L 2>/dev/null | wc -l)
  if ((devices >= 4)); then  # everything that was recorded, beside what PyTorch gave
    KERF_PROCESS_GROUP=threads "$kerf" conformance "$recordings" --json >"$work/threads.json"
    "$kerf" conformance "$recordings" --json >"$work/device.json"
    case_ 'all recordings on 4 ranks' 0 . diff <(grep -v elapsed_ms "$work/threads.json") \
      <(grep -v elapsed_ms "$work/device.json")
  fi
fi
echo "$passed passed, $failed failed"
((failed == 0))
