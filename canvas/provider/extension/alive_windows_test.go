package extension

import "golang.org/x/sys/windows"

func alive(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(h)
	ended, _ := windows.WaitForSingleObject(h, 0)
	return ended == uint32(windows.WAIT_TIMEOUT)
}
