"""The small kernels by which a graph decides: each sets the value of a conditional node from what lies in memory.

They are PTX, the same for every GPU and program, assembled when a program with control flow is loaded;
`cudaGraphSetConditional` is the driver's own device function.
"""

from __future__ import annotations

from typing import Any

import numpy as np

PTX = """
.version 8.0
.target sm_80
.address_size 64

.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);

// while: as long as the byte is not 0
.visible .entry hloom_while(.param .u64 handle, .param .u64 predicate)
{
  .reg .b64 %h, %p;
  .reg .b32 %v;
  ld.param.u64 %h, [handle];
  ld.param.u64 %p, [predicate];
  ld.global.u8 %v, [%p];
  { .param .b64 a; .param .b32 b; st.param.b64 [a], %h; st.param.b32 [b], %v; call.uni cudaGraphSetConditional, (a, b); }
  ret;
}

// for: as long as the counter, which goes up by one, is below the limit
.visible .entry hloom_for(.param .u64 handle, .param .u64 counter, .param .u64 limit)
{
  .reg .b64 %h, %c, %n, %i, %j;
  .reg .b32 %v;
  .reg .pred %more;
  ld.param.u64 %h, [handle];
  ld.param.u64 %c, [counter];
  ld.param.u64 %n, [limit];
  ld.global.u64 %i, [%c];
  setp.lt.u64 %more, %i, %n;
  selp.b32 %v, 1, 0, %more;
  add.u64 %j, %i, 1;
  st.global.u64 [%c], %j;
  { .param .b64 a; .param .b32 b; st.param.b64 [a], %h; st.param.b32 [b], %v; call.uni cudaGraphSetConditional, (a, b); }
  ret;
}

// case: the integer of 1, 2, 4 or 8 bytes, or the last branch where there is none of that number
.visible .entry hloom_case(.param .u64 handle, .param .u64 index, .param .u32 width, .param .u32 branches)
{
  .reg .b64 %h, %p, %i, %n;
  .reg .b32 %w, %b, %v, %last;
  .reg .pred %is, %inside;
  ld.param.u64 %h, [handle];
  ld.param.u64 %p, [index];
  ld.param.u32 %w, [width];
  ld.param.u32 %b, [branches];
  setp.eq.u32 %is, %w, 1;
  @%is ld.global.s8 %i, [%p];
  setp.eq.u32 %is, %w, 2;
  @%is ld.global.s16 %i, [%p];
  setp.eq.u32 %is, %w, 4;
  @%is ld.global.s32 %i, [%p];
  setp.eq.u32 %is, %w, 8;
  @%is ld.global.s64 %i, [%p];
  cvt.u64.u32 %n, %b;
  setp.lt.u64 %inside, %i, %n;
  sub.u32 %last, %b, 1;
  cvt.u32.u64 %v, %i;
  selp.b32 %v, %v, %last, %inside;
  { .param .b64 a; .param .b32 b; st.param.b64 [a], %h; st.param.b32 [b], %v; call.uni cudaGraphSetConditional, (a, b); }
  ret;
}
"""

ONE = (1, 1, 1)


class Conditions:
    """Enqueues the kernels that set conditions."""

    def __init__(self, driver: Any):
        module = driver.load(PTX)
        self._while, self._for, self._case = (driver.kernel(module, name) for name in ("hloom_while", "hloom_for", "hloom_case"))

    def set_while(self, recorder: Any, condition: Any, predicate: int) -> None:
        recorder.launch(self._while, ONE, ONE, 0, [condition.handle, predicate])

    def set_for(self, recorder: Any, condition: Any, counter: int, limit: int) -> None:
        recorder.launch(self._for, ONE, ONE, 0, [condition.handle, counter, limit])

    def set_case(self, recorder: Any, condition: Any, index: int, width: int, branches: int) -> None:
        recorder.launch(self._case, ONE, ONE, 0, [condition.handle, index, np.uint32(width), np.uint32(branches)])
