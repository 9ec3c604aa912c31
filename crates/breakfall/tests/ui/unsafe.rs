#[breakfall::tool]
unsafe fn t(path: String) -> Result<String, breakfall::Failure> {
    Ok(path)
}

fn main() {}
