// load_args: every line of the grammar (formats A.1), aliasing, symbols, older forms.
#include "engine/capture/repro/loader_parser.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

constexpr const char* hashA = "8a87cbd80447553e793b582dff94b89fc3b4b9d7";

LoaderContents parsed(const std::string& lines, const Symbols& symbols = {}) {
  const std::string text = "def load_args(reader):\n" + lines;
  const auto source = scanSource(text, {});
  EXPECT_TRUE(source);
  auto contents = parseLoader(*source, {0, source->lines.size()}, symbols, {});
  EXPECT_TRUE(contents) << contents.error().text();
  return contents ? std::move(*contents) : LoaderContents{};
}

Error refused(const std::string& lines, const Symbols& symbols = {}) {
  const std::string text = "def load_args(reader):\n" + lines;
  const auto source = scanSource(text, {});
  EXPECT_TRUE(source);
  auto contents = parseLoader(*source, {0, source->lines.size()}, symbols, {});
  EXPECT_FALSE(contents);
  return contents ? Error{} : contents.error();
}

TEST(Loader, ReadsTheDefaults) {
  const auto contents = parsed(
      fmt::format("    buf0 = reader.storage('{}', 2048)\n    reader.tensor(buf0, (32, 16))  # primals_1\n", hashA));
  ASSERT_EQ(contents.storages.size(), 1u);
  EXPECT_EQ(contents.storages[0].hash, hashA);
  EXPECT_EQ(contents.storages[0].bytes, 2048);
  EXPECT_EQ(contents.storages[0].device, Device{});
  EXPECT_FALSE(contents.storages[0].dtypeHint.has_value());
  EXPECT_EQ(contents.storages[0].line, 2);
  ASSERT_EQ(contents.inputs.size(), 1u);
  const GraphInput& input = contents.inputs[0];
  EXPECT_EQ(input.kind, GraphInput::Kind::Tensor);
  EXPECT_EQ(input.name, "primals_1");
  EXPECT_EQ(input.sizes, (Sizes{32, 16}));
  EXPECT_EQ(input.strides, (Sizes{16, 1}));
  EXPECT_EQ(input.dtype, DType::Float32);
  EXPECT_EQ(input.storageOffset, 0);
  EXPECT_FALSE(input.requiresGrad);
  EXPECT_FALSE(input.isLeaf);
  EXPECT_EQ(input.line, 3);
}

TEST(Loader, ReadsEveryKeyword) {
  const auto contents = parsed(
      "    buf0 = reader.storage(None, 64, device=device(type='cuda', index=1), dtype_hint=torch.float16)\n"
      "    reader.tensor(buf0, (2, 3), (1, 4), dtype=torch.float16, storage_offset=2, conj=True, requires_grad=True, "
      "is_leaf=True)  # x\n");
  EXPECT_EQ(contents.storages[0].hash, "");
  EXPECT_EQ(contents.storages[0].device, (Device{"cuda", 1}));
  EXPECT_EQ(contents.storages[0].dtypeHint, DType::Float16);
  const GraphInput& input = contents.inputs[0];
  EXPECT_EQ(input.strides, (Sizes{1, 4}));
  EXPECT_EQ(input.dtype, DType::Float16);
  EXPECT_EQ(input.storageOffset, 2);
  EXPECT_EQ(input.device, (Device{"cuda", 1}));
  EXPECT_TRUE(input.requiresGrad);
  EXPECT_TRUE(input.isLeaf);
  ASSERT_EQ(input.extra.size(), 1u);
  EXPECT_EQ(input.extra[0], (std::pair<std::string, std::string>{"conj", "True"}));
}

TEST(Loader, TensorsMayShareAStorage) {
  const auto contents = parsed(
      "    buf0 = reader.storage(None, 64)\n    reader.tensor(buf0, (16,))  # a\n    reader.tensor(buf0, (2, 4), "
      "storage_offset=8)  # b\n");
  ASSERT_EQ(contents.inputs.size(), 2u);
  EXPECT_EQ(contents.inputs[0].storageIndex, 0);
  EXPECT_EQ(contents.inputs[1].storageIndex, 0);
}

TEST(Loader, ReadsWhatIsNoTensor) {
  const auto contents = parsed(
      "    reader.symint(7)  # s0\n    reader.symint(14, expr='2*s0')  # s1\n"
      "    reader.const('c')  # c, filtered out during compilation\n"
      "    reader.unsupported('u')  # unsupported type for dumping: <class 'foo'>\n"
      "    reader.generator('cuda', 0)  # g\n    reader.opaque('torch.Foo')  # o\n");
  ASSERT_EQ(contents.inputs.size(), 6u);
  EXPECT_EQ(contents.inputs[0].sym, (SymExpr{"", 7}));
  EXPECT_EQ(contents.inputs[1].sym, (SymExpr{"2*s0", 14}));
  EXPECT_EQ(contents.inputs[2].kind, GraphInput::Kind::Const);
  EXPECT_EQ(contents.inputs[2].name, "c");
  EXPECT_EQ(contents.inputs[2].comment, "c, filtered out during compilation");
  EXPECT_EQ(contents.inputs[3].kind, GraphInput::Kind::Unsupported);
  EXPECT_EQ(contents.inputs[3].name, "u");
  EXPECT_EQ(contents.inputs[4].kind, GraphInput::Kind::Generator);
  EXPECT_EQ(contents.inputs[4].text, "'cuda', 0");
  EXPECT_EQ(contents.inputs[5].kind, GraphInput::Kind::Opaque);
}

TEST(Loader, ABlockAfterUnsupportedMayDefineAStorage) {
  const auto contents = parsed(
      "    reader.unsupported('l')  # unsupported type for dumping: <class 'list'>\n    \"\"\"\n"
      "    buf0 = reader.storage(None, 16)\n    reader.tensor(buf0, (4,))  # l[0]\n    \"\"\"\n    reader.tensor(buf0, "
      "(2, 2))  # x\n");
  ASSERT_EQ(contents.inputs.size(), 2u);
  ASSERT_EQ(contents.storages.size(), 1u);
  EXPECT_TRUE(contents.storages[0].inBlock);
  EXPECT_EQ(contents.inputs[0].block.size(), 4u);
  EXPECT_EQ(contents.inputs[1].storageIndex, 0);
}

TEST(Loader, EvaluatesSymbolicSizes) {
  const auto contents = parsed(
      "    buf0 = reader.storage(None, 64*s33)\n    reader.tensor(buf0, (s33, 4, s33 // 2 + 1), is_leaf=True)  # x\n",
      {{"s33", 4}});
  EXPECT_EQ(contents.storages[0].bytes, 256);
  EXPECT_EQ(contents.storages[0].bytesText, "64*s33");
  const GraphInput& input = contents.inputs[0];
  EXPECT_EQ(input.sizes, (Sizes{4, 4, 3}));
  EXPECT_EQ(input.strides, (Sizes{12, 3, 1}));
  EXPECT_EQ(input.sizeTexts, (std::vector<std::string>{"s33", "4", "s33 // 2 + 1"}));
  EXPECT_EQ(input.strideTexts,
            (std::vector<std::string>{"4*((s33//2)) + 4", "((s33//2)) + 1", "1"}));  // as sympy has it
}

/// A storage that was not saved has no bytes to contradict, and PyTorch lets it grow.
TEST(Loader, StoragesWithoutContentsGrow) {
  const auto contents = parsed("    buf0 = reader.storage(None, 63)\n    reader.tensor(buf0, (4, 4))  # x\n");
  EXPECT_EQ(contents.storages[0].bytes, 64);
}

TEST(Loader, RefusesViewsBeyondTheirStorage) {
  const auto buffer = [](int bytes) { return fmt::format("    buf0 = reader.storage('{}', {})\n", hashA, bytes); };
  const Error error = refused(buffer(63) + "    reader.tensor(buf0, (4, 4))  # x\n");
  EXPECT_EQ(error.message, "the tensor 'x' needs 64 bytes, its storage has 63");
  EXPECT_EQ(error.line, 3);
  EXPECT_EQ(refused(buffer(64) + "    reader.tensor(buf0, (4,), storage_offset=13)  # x\n").code, ErrorCode::BadInput);
  EXPECT_EQ(refused(buffer(64) + "    reader.tensor(buf0, (4,), storage_offset=-1)  # x\n").code, ErrorCode::BadInput);
  EXPECT_EQ(refused(buffer(64) + "    reader.tensor(buf0, (4,), (-1,))  # x\n").code, ErrorCode::BadInput);
}

TEST(Loader, RefusesAbsurdSizes) {
  const char* lines[] = {
      "    buf0 = reader.storage(None, 100)\n    reader.tensor(buf0, (1000000000000000000,))  # x\n",
      "    buf0 = reader.storage(None, 100)\n    reader.tensor(buf0, (4294967296, 4294967296))  # x\n",
      "    buf0 = reader.storage(None, 1000000000000000000)\n",
      "    buf0 = reader.storage(None, 99999999999999999999)\n",
      "    buf0 = reader.storage(None, 100)\n    reader.tensor(buf0, (2, 2), (9223372036854775807, 1))  # x\n",
  };
  for (const char* line : lines) EXPECT_EQ(refused(line).code, ErrorCode::TooLarge) << line;
}

TEST(Loader, RefusesWhatItDoesNotKnow) {
  struct Case {
    const char* lines;
    const char* message;
  };
  const Case cases[] = {
      {"    reader.tensor(buf7, (4,))  # x\n", "the storage 'buf7' is not defined"},
      {"    buf0 = reader.storage('../../etc/passwd', 4)\n",
       "'../../etc/passwd' is not a storage hash of 40 hex digits"},
      {"    import os\n", "expected '(', found 'os'"},
      {"    os.system('true')\n", "'os.system' is not a line of load_args"},
      {"    buf0 = reader.storage(None, 8*s0)\n", "the name 's0' is not defined"},
      {"    buf0 = reader.storage(None, 64)\n    reader.tensor(buf0, getattr(16))  # x\n",
       "'getattr' is not known in a size"},
      {"    buf0 = reader.storage(None, 4, device='toaster')\n", "'toaster' is not a device"},
      {"    buf0 = reader.storage(None, -4)\n", "a storage cannot have a negative size"},
      {"    buf0 = reader.storage(None, 4)\n    reader.tensor(buf0, (1,), dtype=torch.qint8)  # x\n",
       "torch.qint8 is not a dtype that is known here"},
      {"    buf0 = reader.storage(None, 4)\n    reader.tensor(buf0, (1,), (1, 1))  # x\n", "2 strides for 1 sizes"},
  };
  for (const Case& expected : cases) {
    const Error error = refused(expected.lines);
    EXPECT_EQ(error.code, ErrorCode::BadInput);
    EXPECT_GT(error.line, 1);
    EXPECT_EQ(error.message, expected.message);
  }
}

TEST(OldArguments, ReadsTheListOfTorch20) {
  const std::string text =
      "args = [((4, 8), (8, 1), torch.float32, 'cuda', True), ((3,), (1,), torch.int64, device(type='cpu'), False)]\n"
      "args = [rand_strided(sh, st, dt, dev).requires_grad_(rg) for (sh, st, dt, dev, rg) in args]\n";
  const auto source = scanSource(text, {});
  ASSERT_TRUE(source);
  const auto contents = parseOldArguments(*source, {0, source->lines.size()}, {}, {});
  ASSERT_TRUE(contents) << contents.error().text();
  ASSERT_EQ(contents->inputs.size(), 2u);
  EXPECT_EQ(contents->inputs[0].sizes, (Sizes{4, 8}));
  EXPECT_TRUE(contents->inputs[0].requiresGrad);
  EXPECT_EQ(contents->inputs[0].device.type, "cuda");
  EXPECT_EQ(contents->storages[0].bytes, 128);
  EXPECT_EQ(contents->inputs[1].dtype, DType::Int64);
  EXPECT_EQ(contents->storages[1].bytes, 24);
}

TEST(OldArguments, ReadsAppendedArguments) {
  const std::string text =
      "args = []\nargs.append(rand_strided((2, 3), (1, 2), torch.float16, 'cuda'))  # shape (2, 3)\nargs.append(7)\n";
  const auto source = scanSource(text, {});
  const auto contents = parseOldArguments(*source, {0, source->lines.size()}, {}, {});
  ASSERT_TRUE(contents) << contents.error().text();
  ASSERT_EQ(contents->inputs.size(), 2u);
  EXPECT_EQ(contents->inputs[0].strides, (Sizes{1, 2}));
  EXPECT_EQ(contents->inputs[0].dtype, DType::Float16);
  EXPECT_EQ(contents->inputs[1].kind, GraphInput::Kind::SymInt);
  EXPECT_EQ(contents->inputs[1].sym.hint, 7);
}

}  // namespace
}  // namespace kerf
