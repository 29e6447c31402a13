// What the fuzzers, and the test that replays their seeds, do with one input. They abort when a promise is broken.
#pragma once

#include <string>
#include <string_view>

namespace kerf::inline capture {
struct Capture;
}

namespace kerf::fuzz {

/// Aborts with `what` and `detail` unless the promise holds.
void require(bool promise, const char* what, const std::string& detail);

/// Exports graph `index`, which is read, as Python of all kinds: what is written passes the auditor and is the same graph.
void checkExports(const Capture& capture, std::size_t index);

/// Imports the text as a repro; what imports must print, run out of data gracefully and round-trip. Whether it
/// imported.
bool checkRepro(std::string_view text);
/// Reads the bytes as a torch.save storage and as safetensors; what reads must be written and read back alike.
bool checkStorageFile(std::string_view bytes);
/// Imports the bytes as a TORCH_TRACE log; what is indexed must be readable, and following the log as it grows must
/// find the same.
bool checkTorchTrace(std::string_view bytes);
/// Imports the bytes as a .pt2; what imports must keep its invariants, and what can be written must read back alike.
bool checkPt2(std::string_view bytes);
/// Imports the text as pasted graphs; each must be written as a repro that reads back alike.
bool checkGraphText(std::string_view text);
/// Imports the text as pasted graphs and compares each with itself and with the next: every node is told once. Whether
/// there were two.
bool checkDiff(std::string_view text);
/// Reads the text as scheduler IR, as a provenance map and as a drawn graph (.dot), which must round-trip as a repro.
bool checkDebugFiles(std::string_view text);
/// Imports the text as a repro or as pasted graphs, and compiles and runs what is small: neither side may crash, and both
/// must return the same shapes. Whether something ran compiled.
bool checkCompile(std::string_view text);

}  // namespace kerf::fuzz
