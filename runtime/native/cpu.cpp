// What a program may ask of the CPU and the system before it runs.
#include <cerrno>

#include <sys/syscall.h>
#include <unistd.h>

extern "C" {

// AMX tile data is off in a process until it asks. 0, or the system's error number.
int hloom_enable_amx() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr int kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0 ? 0 : errno;
#else
  return ENOSYS;
#endif
}

}
