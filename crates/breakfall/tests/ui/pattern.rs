#[breakfall::tool]
async fn t((a, b): (u8, u8)) -> Result<u8, breakfall::Failure> {
    Ok(a + b)
}

fn main() {}
