package process

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Group is a process and its children, as a job object. The system ends the job when
// its last handle is closed, and therefore with the host. The zero value has no process.
type Group struct{ job windows.Handle }

// Start starts cmd and assigns it to the job. A child that the process starts before
// the assignment does not belong to the job.
func (g *Group) Start(cmd *exec.Cmd, start func(*exec.Cmd) error) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP} // so that Ctrl-C only reaches the host
	job, err := newJob()
	if err != nil {
		return err
	}
	// Close the handle only after g is unreachable: Kill needs it until then.
	g.job = job
	runtime.AddCleanup(g, func(job windows.Handle) { _ = windows.CloseHandle(job) }, job)
	if err := start(cmd); err != nil {
		return err
	}
	if err := assign(job, cmd.Process); err != nil {
		return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	return nil
}

// newJob creates a job object that ends its processes with its last handle.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, os.NewSyscallError("CreateJobObject", err)
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		return 0, errors.Join(os.NewSyscallError("SetInformationJobObject", err), windows.CloseHandle(job))
	}
	return job, nil
}

// assign adds a process to the job.
func assign(job windows.Handle, p *os.Process) error {
	var err error
	unknown := p.WithHandle(func(h uintptr) { err = windows.AssignProcessToJobObject(job, windows.Handle(h)) })
	return errors.Join(unknown, os.NewSyscallError("AssignProcessToJobObject", err))
}

// Terminate kills the group: Windows has no SIGTERM.
func (g *Group) Terminate() { g.Kill() }

// Kill ends the process and its children.
func (g *Group) Kill() { _ = windows.TerminateJobObject(g.job, 1) }

// Has reports whether a process belongs to the group.
func (g *Group) Has(pid int) bool {
	var list struct { // JOBOBJECT_BASIC_PROCESS_ID_LIST
		assigned, listed uint32
		ids              [1024]uintptr
	}
	err := windows.QueryInformationJobObject(g.job, windows.JobObjectBasicProcessIdList,
		uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), nil)
	return err == nil && slices.Contains(list.ids[:min(int(list.listed), len(list.ids))], uintptr(pid))
}
