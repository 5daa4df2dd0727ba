-- Neovim with `optc lsp`: a fault is shown, goes when the text is mended, and an operation tells what it is.
-- Run by tests/editors/run with the recipe of docs/EDITORS.md in $RECIPE, the command in $OPTC.
local TEXT = {
  "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {",
  "  %0 = nn.rleu %x : tensor<4xf32>",
  "  return %0 : tensor<4xf32>",
  "}",
}

local function say(text)
  io.stdout:write("neovim: " .. text .. "\n")
end

local function fail(text)
  say(text)
  vim.cmd("cquit 1")
end

-- The first `seconds` in which `is_so` gives something that counts.
local function wait_for(what, is_so)
  if not vim.wait(20000, is_so, 20) then
    fail("waited in vain for " .. what)
  end
end

local function start()
  vim.bo.filetype = "mlir"
  if vim.lsp.config then
    dofile(vim.env.RECIPE)
    vim.lsp.config("optc", { cmd = { vim.env.OPTC, "lsp" } })
    vim.cmd("doautocmd FileType mlir")
  else
    local server = { name = "optc", cmd = { vim.env.OPTC, "lsp" }, root_dir = vim.fn.getcwd() }
    vim.lsp.buf_attach_client(0, vim.lsp.start_client(server))
  end
end

local function main()
  vim.cmd("edit " .. vim.fn.tempname() .. ".mlir")
  vim.api.nvim_buf_set_lines(0, 0, -1, false, TEXT)
  start()
  wait_for("a fault", function() return #vim.diagnostic.get(0) > 0 end)
  local fault = vim.diagnostic.get(0)[1]
  if fault.lnum ~= 1 or not fault.message:find("nn.relu", 1, true) then
    fail("the fault is another: " .. vim.inspect(fault))
  end
  say("line " .. fault.lnum + 1 .. ": " .. fault.message:gsub("\n", "; "))
  vim.api.nvim_buf_set_lines(0, 1, 2, false, { "  %0 = nn.relu %x : tensor<4xf32>" })
  wait_for("no fault", function() return #vim.diagnostic.get(0) == 0 end)
  say("mended: no fault is left")
  local at = {
    textDocument = vim.lsp.util.make_text_document_params(),
    position = { line = 1, character = 9 },
  }
  local answers = vim.lsp.buf_request_sync(0, "textDocument/hover", at, 20000) or {}
  local _, answer = next(answers)
  local told = vim.inspect(answer and answer.result and answer.result.contents)
  if not told:find("relu", 1, true) then
    fail("hover tells something else: " .. told)
  end
  say("hover: " .. told:gsub("%s+", " "))
  vim.cmd("qall!")
end

local is_done, error = xpcall(main, debug.traceback)
if not is_done then
  fail(error)
end
