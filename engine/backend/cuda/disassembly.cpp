#include "engine/backend/cuda/disassembly.h"

#include <chrono>
#include <string_view>
#include <vector>

#include "engine/process/program.h"
#include "engine/process/temporary_folder.h"
#include "engine/support/atomic_file.h"

namespace kerf::inline backend {
namespace {

struct Disassembler {
  const char *program, *option;
};
constexpr Disassembler disassemblers[] = {{"nvdisasm", "-c"}, {"cuobjdump", "-sass"}};

}  // namespace

Result<std::string> disassembled(const std::string& cubin) {
  for (const Disassembler& one : disassemblers) {
    const auto program = findProgram(one.program);
    if (program.empty()) continue;
    KERF_TRY(const TemporaryFolder folder, TemporaryFolder::create());
    const auto path = folder.path() / "kernel.cubin";
    KERF_CHECK(writeTextFile(cubin, path));
    KERF_TRY(auto ran, runProgram({program.string(), one.option, path.string()}, "", std::chrono::seconds(30)));
    if (ran.status == 0) return std::move(ran.output);
    const auto said = std::string_view(ran.errors).substr(0, ran.errors.find_last_not_of(" \n\r\t") + 1);
    return fail(ErrorCode::Environment, "{} ended with status {}{}{}", program.string(), ran.status,
                said.empty() ? "" : ": ", said);
  }
  return fail(ErrorCode::Environment, "neither nvdisasm nor cuobjdump is on PATH");
}

}  // namespace kerf::inline backend
