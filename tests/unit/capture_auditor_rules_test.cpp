// The auditor's rules one by one: attributes, functions that call back, definitions, __init__, texts of sympy,
// programs.
#include "engine/capture/audit/auditor.h"
#include "engine/capture/pt2/audit.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

TEST(AuditorRules, ReadsOnlyAttributesThatHoldData) {
  for (const char* name : {"shape", "dtype", "T", "is_cuda", "values", "weight", "requires_grad", "_local_tensor"})
    EXPECT_TRUE(isAllowedAttribute(name)) << name;
  for (const char* name : {"os", "numpy", "tofile", "system", "apply_", "register_hook", "__class__", "is_x.y", "",
                           "untyped_storage", "grad_fn", "modules", "func", "tobytes"})
    EXPECT_FALSE(isAllowedAttribute(name)) << name;
  for (const char* path : {"layers.0.weight", "L__self___conv", "_param_constant0", "load", "true_graph_0"})
    EXPECT_TRUE(isAllowedSelfPath(path)) << path;
  for (const char* path :
       {"m.os", "m.os.system", "apply", "a._modules", "forward", "__dict__", "a.__class__", "builtins"})
    EXPECT_FALSE(isAllowedSelfPath(path)) << path;
  EXPECT_FALSE(isAllowedSelfCall("net.load"));
  EXPECT_TRUE(isAllowedSelfCall("net.layers.0"));
  for (const char* target : {"torch.get_device_module", "iter", "builtins.iter", "map", "torch.ops.image.write_file"})
    EXPECT_FALSE(isAllowedFunction(target)) << target;
}

/// Setters of state that Dynamo writes into graphs: of saved tensors, of autograd, of precision.
TEST(AuditorRules, AllowsSettersOfState) {
  for (const char* target :
       {"torch._C._autograd._saved_tensors_hooks_disable", "torch._C._autograd._saved_tensors_hooks_enable",
        "torch._C._set_deterministic_algorithms", "torch._C._set_cudnn_allow_tf32", "torch._C.set_autocast_enabled",
        "torch._C._functorch.set_single_level_autograd_function_allowed", "torch.set_float32_matmul_precision",
        "torch.autograd.grad_mode._enter_inference_mode", "torch.use_deterministic_algorithms"})
    EXPECT_TRUE(isAllowedFunction(target)) << target;
  EXPECT_TRUE(
      auditExport("class A(torch.nn.Module):\n    def forward(self, x):\n"
                  "        s = torch._C._autograd._saved_tensors_hooks_disable('vmap is not supported', False)\n"
                  "        a = torch.relu(x)\n        e = torch._C._autograd._saved_tensors_hooks_enable()\n        "
                  "return (a,)\n"));
  for (const char* target :
       {"torch._C._set_print_stack_traces_on_fatal_signal", "torch._C._cuda_setDevice", "torch.set_num_threads",
        "torch._C._push_saved_tensors_hooks", "torch._C._autograd._push_saved_tensors_default_hooks"})
    EXPECT_FALSE(isAllowedFunction(target)) << target;
}

/// What calls a function gets a graph of the capture, and nothing that another place made.
TEST(AuditorRules, CallsBackOnlyGraphs) {
  const auto audited = [](const std::string& lines) {
    return auditExport("class A(torch.nn.Module):\n    def forward(self, x):\n        " + lines +
                       "\n        return (a,)\n")
        .has_value();
  };
  const std::string call = "a = torch.utils.checkpoint.checkpoint(";
  EXPECT_TRUE(audited("f = self.body\n        " + call + "f, x, use_reentrant = False)"));
  EXPECT_TRUE(audited(call + "self.body, x)"));
  EXPECT_TRUE(audited("a = torch.ops.higher_order.cond(x, self.t, self.f, (x,))"));
  EXPECT_TRUE(audited("a = torch._check(x, None)"));
  EXPECT_TRUE(audited("a = max(x, 1)"));
  for (const char* lines :
       {"f = x\n        a = torch.utils.checkpoint.checkpoint(f)",
        "f = self.b\n        f = x\n        a = torch.vmap(f)", "a = torch.utils.checkpoint.checkpoint(torch.relu, x)",
        "a = torch.vmap(*[self.b])", "a = torch.utils.checkpoint.checkpoint(self.b, context_fn = x)",
        "a = torch.vmap(func = x)", "a = torch.utils.checkpoint.checkpoint(self.b if x else x)", "a = max(x, key = x)",
        "a = sorted(x, key = len)", "a = max(x, **{'key': x})", "a = torch._check(x, x)",
        "a = torch._check(x, message = x)", "a = torch.lobpcg(x, tracker = x)",
        "f = (self.b, x)[1]\n        a = torch.vmap(f)", "a = torch.vmap(x[0])"})
    EXPECT_FALSE(audited(lines)) << lines;
}

/// Kerf reads the first of two definitions, Python the last.
TEST(AuditorRules, RefusesASecondDefinition) {
  const std::string forward = "    def forward(self, x):\n        return x\n";
  const std::string first = "class A(torch.nn.Module):\n" + forward, loader = "def load_args(reader):\n    pass\n";
  const std::string main =
      "if __name__ == '__main__':\n    from torch._dynamo.repro.after_aot import run_repro\n"
      "    run_repro(1)\n";
  EXPECT_TRUE(auditExport(first + "mod = A()\nmod = A()\n" + loader + main));
  for (const std::string& text : std::vector<std::string>{
           first + first, first + forward, loader + loader, main + main, first + "A = 3\n", "A = 3\n" + first,
           "s0 = 8\ns0 = 9\n", first + "class B(torch.nn.Module):\n" + forward + "mod = A()\nmod = B()\n",
           std::string("len = 3\n"), "from torch import inf\nclass inf(torch.nn.Module):\n" + forward,
           "class len(torch.nn.Module):\n" + forward, "class Linear(torch.nn.Module):\n" + forward,
           "class Max(torch.nn.Module):\n" + forward, "class math_floor(torch.nn.Module):\n" + forward,
           "class A(torch.nn.Module):\n" + forward + "    def __init__(self):\n        super().__init__()\n"})
    EXPECT_FALSE(auditExport(text)) << text;
}

TEST(AuditorRules, InitMakesModulesTensorsAndLiterals) {
  const auto audited = [](const std::string& lines) {
    return auditExport("class A(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        " +
                       lines + "\n    def forward(self, x):\n        return self.m(x)\n")
        .has_value();
  };
  for (const char* lines :
       {"self.m = Linear(2, 2)", "self.m = None  # not Python: '<lambda>()'", "self.m.a = ReLU()",
        "self.__dict__['0'] = ReLU()", "self.w = torch.nn.Parameter(torch.zeros(2))",
        "self.register_buffer('b', tensor([1.]))", "self.a = 3\n        self.m = Sequential(ReLU())"})
    EXPECT_TRUE(audited(lines)) << lines;
  for (const char* lines : {"self.m = torch.relu", "self.m = tensor([1.])", "self.m = self.forward", "self.m = int",
                            "self.forward = ReLU()", "self.m.os = ReLU()", "self.__dict__['apply'] = ReLU()",
                            "self.__dict__['a' 'b'] = ReLU()", "self.__dict__[x] = 1", "self.apply(ReLU())",
                            "self._modules['m'] = ReLU()", "self.m = [ReLU()][0]", "self.m: int = int"})
    EXPECT_FALSE(audited(lines)) << lines;
}

TEST(AuditorRules, SymbolicTextsAreOneString) {
  const auto audited = [](const std::string& call) {
    return auditExport("def load_args(reader):\n    " + call + "\n").has_value();
  };
  EXPECT_TRUE(audited("reader.symint(3, expr='s0 + 2*s1')"));
  EXPECT_TRUE(audited("reader.symint(3, expr='Max(2, s0)',)"));
  for (const char* call :
       {"reader.symint(3, expr='s0' '+exec(1)')", "reader.symint(3, expr='s0' + 'x')", "reader.symint(3, 's0')",
        "reader.symint(3, **{'expr': 's0'})", "reader.symint(*[3, 's0'])", "reader.symint(3, expr=x)",
        "reader.symint(3, expr='s0'.a)", "reader.a.symint(3)", "reader.symint(3, expr=('s0'))"})
    EXPECT_FALSE(audited(call)) << call;
}

TEST(AuditorRules, GuardsOnlyCompareSizes) {
  for (const char* text :
       {"L['x'].size()[0] >= 2", "2 <= L['x'].size()[0] and L['x'].size()[0] <= 10", "L['args'][0].size()[0] % 8 == 0",
        "max(L['x'].size()[0], 2) < 3", "L['x'].shape[0] != 3", "math.floor(L['x'].size()[0] / 2) == 4",
        "L['x'].storage_offset() == 0", "L['flag'] is True"})
    EXPECT_TRUE(isAllowedCondition(text, {"L"})) << text;
  for (const char* text :
       {"max([1], key=L['x'].size)", "torch.relu(L['x'])", "L['x'].backward()", "L['x'].os", "torch.manual_seed(0)",
        "print(1)", "L['x'].size", "getattr(L, 'os')", "globals()['exec']('x')", "L.os.system('x')", "max(*L)",
        "x.size()[0] > 1", "L['x'].size()(1)"})
    EXPECT_FALSE(isAllowedCondition(text, {"L"})) << text;
}

/// Fields and places of model.json, written with single quotes.
TEST(AuditorRules, ProgramsAndConfigsHaveTheirOwnFields) {
  const auto json = [](std::string text) {
    std::ranges::replace(text, '\'', '"');
    return text;
  };
  const auto program = [&](const std::string& text) { return pt2::auditProgramJson(json(text), {}).has_value(); };
  const auto config = [&](const std::string& text) { return pt2::auditConfigJson(json(text)).has_value(); };
  EXPECT_TRUE(
      program("{'graph_module': {'graph': {'nodes': [{'target': 'torch.ops.aten.relu.default', 'metadata': "
              "{'target': 'x y'}}]}, 'metadata': {'expr_str': 'exec(1)'}}, 'guards_code': ['L[0].size()[0] >= 2']}"));
  for (const char* text :
       {"{'config': {}, 'evil_code': 'x'}", "{'': {'evil': 1}}", "[{'guards_code': ['x']}]",
        "{'graph_module': {'config': {}}}", "{'graph_module': {'signature': {'metadata': {'expr_str': 'exec(1)'}}}}",
        "{'graph_module': {'graph': {'custom': {'target': 'torch.load'}}}}",
        "{'range_constraints': {'metadata': {'expr_str': 'exec(1)'}}}",
        "{'graph_module': {'graph': {'nodes': [{'inputs': {'metadata': {'expr_str': 'exec(1)'}}}]}}}",
        "{'guards_code': ['max([1], key=torch.get_device_module(0).os.system)']}"})
    EXPECT_FALSE(program(text)) << text;
  EXPECT_TRUE(config("{'config': {'a.b': {'path_name': 'weight_0', 'is_param': true}}}"));
  for (const char* text : {"{'config': {'a': {'path_name': '../x'}}}", "{'config': {}, 'graph_module': {}}",
                           "{'guards_code': []}", "{'config': {'a': {'tensor_meta': {'expr_str': 'exec(1)'}}}}"})
    EXPECT_FALSE(config(text)) << text;
}

}  // namespace
}  // namespace kerf
